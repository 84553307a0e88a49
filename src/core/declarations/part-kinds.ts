import type { PartRole } from '../record/part-role.ts';

/** A kind of section, or of labelled text, and what a text of this kind says. */
export interface PartKind {
  readonly name: string;
  readonly role: PartRole;
  /** Whether it has the role only next to a decision: elsewhere, the text is content like any other. */
  readonly needsDecision: boolean;
  /** Whether it ends with its line: a date, a status. */
  readonly isLine: boolean;
  /** The words that stand before it where it is shown next to an answer. */
  readonly label: string;
  readonly names: readonly string[];
}

/** Splits a list of names of one language, separated by `|`. */
const names = (...lists: readonly string[]) => lists.flatMap((list) => list.split('|'));

const usual = { needsDecision: true, isLine: false, label: '' };

/**
 * The kinds of sections by the headings in common use: of our own decisions, of architecture decision
 * records (Nygard, MADR, Y-statements) and of other memory banks, in nine languages.
 */
export const partKinds: readonly PartKind[] = [
  {
    ...usual,
    name: 'decision',
    role: 'answer',
    needsDecision: false,
    names: names(
      'decision|the decision|our decision|decision outcome|decision made|decision taken|outcome|resolution|answer|solution|chosen option|chosen solution|conclusion',
      'entscheidung|beschluss|entscheidungsergebnis|ergebnis der entscheidung|gewählte option|lösung|antwort|fazit',
      'décision|décision prise|résultat de la décision|résolution|réponse|option retenue|choix retenu|solution retenue',
      'decisión|decisión tomada|resultado de la decisión|resolución|respuesta|opción elegida|solución',
      'decisão|decisão tomada|resultado da decisão|resolução|resposta|opção escolhida|solução',
      '决策|决定|決定|决策结果|决议|结论|解决方案|决策内容',
      '決定事項|決定内容|結論|解決策|決定結果',
      'решение|принятое решение|итог|вывод|ответ',
    ),
  },
  {
    ...usual,
    name: 'context',
    role: 'reason',
    label: 'context',
    names: names(
      'context|context and problem statement|background|problem|problem statement|the problem|question|issue|situation|motivation|forces',
      'kontext|hintergrund|problem|problemstellung|ausgangslage|fragestellung|frage|motivation|kontext und problemstellung',
      'contexte|problème|problématique|énoncé du problème|contexte et problématique|question',
      'contexto|antecedentes|problema|planteamiento del problema|motivación|pregunta|contexto y problema',
      'contexto e problema|declaração do problema|motivação|pergunta',
      '背景|上下文|问题|問題|问题陈述|动机|背景与问题',
      'コンテキスト|文脈|課題|経緯|動機|背景と課題',
      'контекст|предпосылки|проблема|постановка проблемы|вопрос|мотивация',
    ),
  },
  {
    ...usual,
    name: 'reason',
    role: 'reason',
    label: 'why',
    names: names(
      'rationale|reason|reasons|reasoning|justification|why|decision drivers|drivers|arguments',
      'begründung|grund|gründe|entscheidungstreiber|warum',
      'justification|raison|raisons|raisonnement|motivation|critères de décision|pourquoi',
      'justificación|razón|razones|razonamiento|motivo|motivos|fundamento|por qué',
      'justificativa|justificação|razão|razões|motivação da decisão|racional|por quê|por que',
      '理由|原因|依据|决策理由|决策驱动因素',
      '根拠|決定理由|判断理由|決定の理由',
      'обоснование|причина|причины|почему',
    ),
  },
  {
    ...usual,
    name: 'consequences',
    role: 'reason',
    label: 'consequences',
    names: names(
      'consequences|consequence|implications|impact|trade-offs|tradeoffs|trade offs|positive consequences|negative consequences|effects|risks',
      'konsequenzen|folgen|auswirkungen|risiken|positive konsequenzen|negative konsequenzen|positive folgen|negative folgen',
      'conséquences|implications|impacts|risques|conséquences positives|conséquences négatives',
      'consecuencias|implicaciones|impacto|riesgos|consecuencias positivas|consecuencias negativas',
      'consequências|implicações|riscos|consequências positivas|consequências negativas',
      '后果|影响|結果|后续影响|风险',
      '影響|帰結|リスク|トレードオフ',
      'последствия|следствия|влияние|риски',
    ),
  },
  {
    ...usual,
    name: 'alternatives',
    role: 'rejected',
    needsDecision: false,
    label: 'not chosen',
    names: names(
      'alternatives|alternative|alternatives considered|considered alternatives|alternatives rejected|rejected|rejected alternatives|rejected options|options rejected|rejected approaches|other options|other options considered|other alternatives|discarded|discarded options|discarded alternatives|not chosen|decided against|options not chosen',
      'alternativen|erwogene alternativen|betrachtete alternativen|geprüfte alternativen|verworfene alternativen|verworfen|verworfene optionen|abgelehnt|abgelehnte alternativen|nicht gewählt',
      'alternatives envisagées|alternatives considérées|alternatives rejetées|alternatives écartées|options rejetées|options écartées|rejeté|écarté',
      'alternativas|alternativas consideradas|alternativas descartadas|alternativas rechazadas|opciones descartadas|opciones rechazadas|descartado|rechazado',
      'alternativas rejeitadas|opções descartadas|opções rejeitadas|rejeitado',
      '备选方案|替代方案|备选|考虑过的替代方案|被否决的方案|其他方案|未采用|否决|考虑的替代方案|备选项',
      '代替案|検討した代替案|却下|却下した案|却下された案|不採用|不採用案|他の選択肢|他の案',
      'альтернативы|рассмотренные альтернативы|отклонённые альтернативы|отклоненные альтернативы|отклонено|отвергнутые варианты',
    ),
  },
  {
    ...usual,
    name: 'options',
    role: 'rejected',
    label: 'considered',
    names: names(
      'considered options|options considered|options|the options|pros and cons|pros and cons of the options|evaluation of options|comparison of options',
      'optionen|betrachtete optionen|erwogene optionen|mögliche optionen|varianten|vor- und nachteile|vor- und nachteile der optionen',
      'options envisagées|options considérées|options étudiées|avantages et inconvénients|avantages et inconvénients des options',
      'opciones|opciones consideradas|ventajas y desventajas|pros y contras|pros y contras de las opciones',
      'opções|opções consideradas|vantagens e desvantagens|prós e contras|prós e contras das opções',
      '选项|候选方案|考虑的方案|考虑的选项|方案比较|优缺点',
      '選択肢|検討した選択肢|候補|比較検討|長所と短所|選択肢の長所と短所',
      'варианты|рассмотренные варианты|плюсы и минусы',
    ),
  },
  {
    ...usual,
    name: 'status',
    role: 'bookkeeping',
    isLine: true,
    names: names('status|decision status|statut|état|estado|situação|状态|狀態|ステータス|статус'),
  },
  {
    ...usual,
    name: 'evidence',
    role: 'bookkeeping',
    needsDecision: false,
    names: names(
      'evidence|belege|nachweise|preuves|evidencia|evidencias|evidência|evidências|证据|証拠|доказательства',
    ),
  },
  {
    ...usual,
    name: 'origin',
    role: 'bookkeeping',
    isLine: true,
    names: names(
      'date|decided on|decision date|last updated|author|authors|owner|decider|deciders|decision maker|decision makers|decision-makers|participants|consulted|informed|approved by|tags|id|ticket',
      'datum|autor|autoren|entscheider|beteiligte|auteur|auteurs|décideurs|fecha|autores|decisores|日期|作者|决策者|标签|日付|作成者|決定者|タグ|дата|автор|авторы|теги',
    ),
  },
  {
    ...usual,
    name: 'references',
    role: 'bookkeeping',
    names: names(
      'references|reference|source|sources|links|related|related decisions|related records|see also|more information|further reading|metadata|supersedes',
      'quelle|quellen|referenzen|verweise|weitere informationen|siehe auch|références|référence|liens|voir aussi|referencias|referencia|fuente|fuentes|enlaces|ver también',
      'referências|referência|fonte|fontes|ver também|参考|参考资料|来源|相关链接|更多信息|参考文献|出典|関連|関連情報|リンク|источники|ссылки|см. также',
    ),
  },
];

let byName: ReadonlyMap<string, PartKind> | undefined;

/** Longest heading or label that is looked up. */
const longestName = 80;

/** The number and the signs before the name in a heading. */
const before = /^(?:[\s*_#>~`]|\ufe0f|\d+(?:\.\d+)*[.):]?\s|[\u2190-\u2bff\u{1f300}-\u{1faff}])+/u;
/** The end of the name in a heading: `Decision: use Postgres`, `Decision (final)`. */
const after = /\s*(?:[:：(（–—]|\s-\s).*$/s;
const signs = /[\s*_~`.:：]+$/;

/** Returns the kind of a section by its heading, or of a text by its label; undefined for any other. */
export function kindOf(heading: string): PartKind | undefined {
  if (heading.length > longestName) return undefined;
  byName ??= new Map(
    partKinds.toReversed().flatMap((kind) => kind.names.map((name) => [name, kind] as const)),
  );
  const name = heading.replace(before, '').toLowerCase().replace(/\s+/g, ' ').replace(signs, '');
  return byName.get(name) ?? byName.get(name.replace(after, '').replace(signs, ''));
}
