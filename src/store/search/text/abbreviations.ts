import { divided, RelatedStems } from './related-stems.ts';

/** The usual abbreviations of software, each followed by the words that it is short for. */
const abbreviations = `
  abbr abbreviation | abs absolute | addr address | admin administrator
  | alloc allocate allocation | app application | approx approximate | arch architecture
  | arg argument | arr array | async asynchronous | attr attribute
  | auth authentication authorization | authn authentication | authz authorization | avg average
  | bool boolean | btn button | buf buffer | calc calculate | cert certificate
  | cfg config configuration | char character | cmd command | cnt count | coef coefficient
  | col column | concat concatenate | conf config configuration | config configuration
  | conn connection | const constant | coord coordinate | ctrl control | ctx context | curr current
  | db database | decl declaration | def definition | del delete | dep dependency | desc description
  | dest destination | dev development | dict dictionary | diff difference | dim dimension
  | dir directory | dirs directories | dist distance distribution | div division
  | doc documentation document | dst destination | elem element | enc encoding | enum enumeration
  | env environment | eq equal | err error | eval evaluate | exe executable | exec execute
  | exp exponential | expr expression | ext extension | fmt format | fn function | freq frequency
  | fs filesystem | func function | gen generate generator | hex hexadecimal | hist histogram
  | i18n internationalization | idx index | img image | impl implementation | inc increment
  | info information | init initialize | inst instance | int integer | iter iterator iterate
  | js javascript | k8s kubernetes | kwarg keyword | lang language | lat latitude | len length
  | lib library | loc location | lon longitude | mat matrix | max maximum | mem memory | mgr manager
  | min minimum | misc miscellaneous | mod module | msg message | mult multiply | nav navigation
  | neg negative | net network | norm normalize | num number | obj object | op operation operator
  | opt option | org organization | orig original | param parameter | perf performance
  | perm permission | pg postgres postgresql | pkg package | pos position | prev previous
  | prob probability | proc process | prod production | prop property | ptr pointer | pwd password
  | py python | qty quantity | rand random | rec record | recv receive | ref reference
  | reg register | regex regexp | repo repository | repr representation | req request
  | res result response | resp response | ret return | rm remove | sec second | seg segment
  | sel select | seq sequence | sig signature | spec specification | src source | std standard
  | stdev deviation | stmt statement | str string | struct structure | sub subtract | svc service
  | sym symbol | sync synchronize | sys system | temp temporary temperature | thresh threshold
  | tmp temporary | tok token | trans transform | ts typescript timestamp | txt text | ui interface
  | uniq unique | util utility | val value | var variable | vec vector | ver version | vol volume
  | win window | ws websocket`;

const related = new RelatedStems(function* () {
  for (const entry of abbreviations.split('|')) {
    const [short = '', ...words] = divided(entry);
    yield [short, words.join(' ')];
    for (const full of words) yield [full, short];
  }
});

/**
 * The stems of the words that a word is short for, and of those that are short for it.
 *
 * @param term the stem of the word.
 */
export function otherForms(term: string): Iterable<string> {
  return related.of(term);
}
