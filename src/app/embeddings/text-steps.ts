import { isObject, modelError } from './model-folder.ts';

type Step = { readonly [key: string]: unknown };

/** Returns the function that a `normalizer` of a tokenizer describes. */
export function normaliser(description: unknown): (text: string) => string {
  if (description === null || description === undefined) return (text) => text;
  if (!isObject(description)) throw modelError('its normalizer is not an object');
  switch (description.type) {
    case 'Sequence':
      return inOrder(list(description.normalizers).map(normaliser));
    case 'BertNormalizer':
      return bert(description);
    case 'Lowercase':
      return (text) => text.toLowerCase();
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = description.type;
      return (text) => text.normalize(form);
    }
    // The table of SentencePiece is compiled from NFKC.
    case 'Precompiled':
      return (text) => text.normalize('NFKC');
    case 'StripAccents':
      return withoutAccents;
    case 'Strip':
      return (text) => text.trim();
    case 'Replace':
      return replacement(description);
    case 'Prepend': {
      const { prepend } = description;
      return (text) => (text === '' ? text : String(prepend) + text);
    }
    default:
      throw modelError(`its normalizer is of an unknown type: ${JSON.stringify(description.type)}`);
  }
}

/** Returns the function that a `pre_tokenizer` of a tokenizer describes: it divides a text into words. */
export function splitter(description: unknown): (text: string) => readonly string[] {
  if (description === null || description === undefined) return (text) => [text];
  if (!isObject(description)) throw modelError('its pre_tokenizer is not an object');
  switch (description.type) {
    case 'Sequence': {
      const steps = list(description.pretokenizers).map(splitter);
      return (text) =>
        steps.reduce<readonly string[]>((words, step) => words.flatMap(step), [text]);
    }
    case 'BertPreTokenizer':
      return (text) => text.match(/[^\s\p{P}$+<=>^`|~]+|[\p{P}$+<=>^`|~]/gu) ?? [];
    case 'Whitespace':
      return (text) => text.match(/[\p{L}\p{M}\p{N}_]+|[^\p{L}\p{M}\p{N}_\s]+/gu) ?? [];
    case 'WhitespaceSplit':
      return (text) => text.match(/\S+/gu) ?? [];
    case 'Punctuation':
      return (text) => text.match(/[^\p{P}]+|\p{P}/gu) ?? [];
    case 'Metaspace':
      return metaspace(description);
    default:
      throw modelError(
        `its pre_tokenizer is of an unknown type: ${JSON.stringify(description.type)}`,
      );
  }
}

function inOrder(steps: readonly ((text: string) => string)[]): (text: string) => string {
  return (text) => steps.reduce((now, step) => step(now), text);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function bert(step: Step): (text: string) => string {
  const lower = step.lowercase !== false;
  const strips = typeof step.strip_accents === 'boolean' ? step.strip_accents : lower;
  return (given) => {
    let text = given;
    if (step.clean_text !== false) {
      text = text.replace(/\s/gu, ' ').replace(/[\p{Cc}\p{Cf}\ufffd]/gu, '');
    }
    if (step.handle_chinese_chars !== false) text = text.replace(/\p{Script=Han}/gu, ' $& ');
    if (strips) text = withoutAccents(text);
    return lower ? text.toLowerCase() : text;
  };
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{Mn}/gu, '');
}

function replacement({ pattern, content }: Step): (text: string) => string {
  const { String: literal, Regex: expression }: Step = isObject(pattern) ? pattern : {};
  if (typeof content !== 'string') throw modelError('its normalizer replaces by something unknown');
  if (typeof literal === 'string') return (text) => text.replaceAll(literal, () => content);
  // An expression of a file could take forever; this one joins spaces, as most of them do.
  if (expression === ' {2,}') return (text) => text.replace(/ {2,}/g, () => content);
  throw modelError(`its normalizer has an unknown expression: ${JSON.stringify(expression)}`);
}

function metaspace({ replacement: sign = '▁', prepend_scheme: scheme, split, ...rest }: Step) {
  if (typeof sign !== 'string' || sign.length !== 1) throw modelError('its sign for spaces is odd');
  const prepends = scheme === undefined ? rest.add_prefix_space !== false : scheme !== 'never';
  return (text: string): readonly string[] => {
    const joined = text.replaceAll(' ', sign);
    const whole = prepends && joined !== '' && !joined.startsWith(sign) ? sign + joined : joined;
    if (split === false) return [whole];
    const words: string[] = [];
    for (let from = 0; from < whole.length; ) {
      const next = whole.indexOf(sign, from + 1);
      words.push(whole.slice(from, next < 0 ? whole.length : next));
      from = next < 0 ? whole.length : next;
    }
    return words;
  };
}
