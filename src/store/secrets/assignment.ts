import type { Kind } from './kinds.ts';

/** A form that gives a name a value; `judge` decides whether the value is a credential. */
export interface Assignment extends Kind {
  judge(value: string, match: string): boolean;
}

/** The names of credentials, and the rules for a value with such a name. */
const named = [
  {
    name: 'a password',
    // Also the words without "pass" of the languages in which people write notes.
    words:
      /pass(?:word|wd|phrase|code)?|pwd|kennwort|l[öo]senord|wachtwoord|adgangskode|kodeord|salasana|contrase[nñ]a|contrasenya|clave|senha|has[lł]o|heslo|jelsz[oó]|geslo|lozinka|parol[aăe]?|[sş]ifre|m[aậ]t kh[aẩ]u|kata sandi|пароль|лозинка|κωδικός|סיסמה|كلمة (?:المرور|السر)|पासवर्ड|รหัสผ่าน|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호/i,
    judge: isPassword,
  },
  {
    name: 'a key or token',
    words:
      /secret|token|credentials?|(?:api|access|account|private|encryption|signing|master|license|service|session|auth|deploy|webhook|subscription|consumer|client|shared)[-_ ]?key|apikey|auth/i,
    judge: isRandom,
  },
];

/**
 * Values that the text itself calls a password, a key or a token.
 *
 * These are the forms in which code, settings, headers, URLs and plain prose give names values.
 */
export const assignments: readonly Assignment[] = [
  {
    name: 'a password in a URL',
    pattern:
      /:\/\/[^\s:/?#@"'`<>]{0,100}:(?<secret>[^\s/@"'`<>]{3,200})@(?:example\.(?:com|org|net)\b|[A-Za-z0-9[])/g,
    needs: ['://'],
    judge: (value, match) =>
      !isPlaceholder(value) &&
      !match.startsWith(`://${value}:`) &&
      // A short password at an example host is from a manual.
      (value.length >= 8 || !/@example\.\w+$/.test(match)),
  },
  {
    name: 'the credential of an Authorization header',
    pattern: /\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC) +(?<secret>[A-Za-z0-9._~+/=-]{16,1000})/g,
    needs: ['earer', 'asic', 'EARER', 'ASIC'],
    judge: (value) => isRandom(value) && !isExampleLogin(value),
  },
  {
    name: 'a password',
    pattern:
      /(?:\slogin \S{1,100} password|--[a-z-]{0,20}(?:password|token|secret|key))\s{1,3}(?<secret>[^\s"'`<>,;&]{8,512})/g,
    judge: isPassword,
  },
  ...named.map(({ name, words, judge }) => ({ name, pattern: assigning(words), judge })),
];

/**
 * The kind of credential that a value is by its name, such as a record's key for the record's value.
 */
export function kindByName(name: string, value: string): string | undefined {
  const kind = named.find(({ words }) => words.test(name));
  return kind && !/\s/.test(value) && kind.judge(value) ? kind.name : undefined;
}

/** `NAME_x = value`, `"name": "value"`, `name => value`, `the name for x is value`. */
function assigning({ source: words }: RegExp): RegExp {
  return new RegExp(
    `(?:${words})[\\w-]{0,24}(?: (?:for|of|to|on|für|zu|pour|de|del|do|da|di|voor|dla)\\b[^\\n:=]{0,40}?)?["'\`*\\])]{0,4}(?:\\s{0,3}(?:=>|:=|->|[:=：＝])|\\s{0,3}(?:是|は|为|為)|\\s{1,3}(?:is|ist|lautet|est|es|é|è|jest))\\s{0,3}["'\`*([]{0,4}(?<secret>[^\\s"'\`<>,;&]{8,512})`,
    'gi',
  );
}

/** Placeholders for a credential, as used in examples. */
const placeholder =
  /example|placeholder|change_?-?me|your|dummy|sample|redacted|replace|insert|x{4}|\*{3}|\.{3}|…|01234567|12345678|abcdefgh|eyJzdWIiOiIxMjM0NTY3ODkwIi/i;
/** A value that refers to another place: a variable, a template, a call. */
const reference =
  /^[$%{[<@&*!]|\$\{|\{\{|[({]|^(?:process|import|os|env|config|settings|self|this|ctx|vault|arn)[.:]|^[A-Za-z_][\w.]*\[\d+\]?$/;
/** A name in code of a variable that holds a credential. */
const codeName = /[a-z\d](?:Token|Secret|Password|Credential)/;
/** Well-known passwords, with the digits and signs that people add to them. */
const common =
  /^[^a-z]*(?:pass|password|passwd|pwd|secret|token|key|apikey|user|username|root|admin|administrator|postgres|postgresql|mysql|mariadb|mongo|mongodb|redis|rabbitmq|guest|test|testing|demo|dev|local|localhost|foo|bar|baz|hunter|letmein|welcome|qwerty|none|null|undefined|true|false|string|todo|value|here|hash|hashed|hidden|empty|app|db|database|mysecret|mypassword|mysecretpassword|supersecret|topsecret|secretkey|secretpassword|open.?sesame|userpassword|dbpassword|rootpassword|strongpassword|securepassword|yourpassword|p.?ssw.?rd)[^a-z]*$/i;

/** Returns whether a text is a placeholder for a credential. */
export function isPlaceholder(value: string): boolean {
  return placeholder.test(value) || reference.test(value) || common.test(value);
}

/** Whether a value of Basic authentication, `user:password` in base64, is an example from a manual. */
function isExampleLogin(value: string): boolean {
  const login = Buffer.from(value, 'base64').toString('latin1');
  const password = /^[ -~]*?:([ -~]+)$/.exec(login)?.[1] ?? '';
  return placeholder.test(password) || common.test(password);
}

/** Whether a credential is only an example: a placeholder, or one character repeated. */
export function isExample(value: string): boolean {
  return placeholder.test(value) || entropy(value.slice(-32)) < 2.5;
}

/** Whether a text is machine-generated: letters and digits in an order that no name has. */
export function isRandom(given: string): boolean {
  const value = trimmed(given);
  if (value.length < 16 || isPlaceholder(value)) return false;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return false;
  if (entropy(value) < 3 || codeName.test(value)) return false;
  let digitSwaps = 0;
  let caseSwaps = 0;
  let oddLength = 0;
  for (const piece of value.split(/[^A-Za-z0-9]+/)) {
    if (/^\d*$/.test(piece)) continue;
    const swaps = count(piece, /[A-Za-z](?=\d)|\d(?=[A-Za-z])/g);
    const ups = count(piece, /[a-z](?=[A-Z])/g);
    digitSwaps += swaps;
    caseSwaps += ups;
    if (swaps > 1 || swaps + ups > piece.length / 4) oddLength += piece.length;
  }
  return oddLength >= value.length / 2 && (digitSwaps >= 3 || (digitSwaps >= 2 && caseSwaps >= 3));
}

/** Whether a text is random, or a typical password: short, with all kinds of characters. */
export function isPassword(given: string): boolean {
  if (isRandom(given)) return true;
  const value = trimmed(given);
  if (value.length < 8 || value.length > 40 || isPlaceholder(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((one) => one.test(value)).length;
  const swaps = count(value, /[A-Za-z](?=\d)|\d(?=[A-Za-z])/g);
  return (classes === 4 && !/[./]/.test(value)) || (classes === 3 && swaps >= 3);
}

/** Removes the punctuation that ends a sentence or closes a bracket. */
function trimmed(value: string): string {
  return value.slice(0, 512).replace(/[.:)\]}*_!?|\\]{1,20}$/, '');
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** The Shannon entropy of a text, in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const n of counts.values()) bits -= (n / text.length) * Math.log2(n / text.length);
  return bits;
}
