import { type Assignment, isPassword, isPlaceholder, isRandom } from './assignment.ts';

/** The rest of a command up to an option: on the same line, and not past the end of the command. */
const rest = '[^\\n|;&]{0,200}?\\s';
/** The value of an option, with or without quotes. */
const value = '["\'`]?(?<secret>[^\\s"\'`<>|;&]{4,200})';

/** A password as an argument of a program that takes one there. */
function argument(needs: readonly string[], form: string): Assignment {
  return {
    name: 'a password on a command line',
    pattern: new RegExp(`(?<![\\w-])(?:${form})`, 'g'),
    needs,
    judge: isGiven,
  };
}

/**
 * Credentials whose place says what they are: arguments of programs, cookies, SQL, password files.
 *
 * The name of the program or header decides, so that a shorter or simpler value is recognised than
 * one with a name that could be anything.
 */
export const forms: readonly Assignment[] = [
  // name:password
  argument(
    ['-u', '-a'],
    `(?:curl|wget|https?|xh)\\b${rest}(?:-u|--(?:proxy-)?user|-a|--auth)[ =]?["'\`]?[^\\s:"'\`]{1,100}:(?<secret>[^\\s"'\`<>|;&]{4,200})`,
  ),
  // A letter, with the password directly behind it or as the next word
  argument(
    ['-p'],
    `(?:mysql(?:dump|admin|import|show)?|mariadb(?:-dump|-admin)?|mycli|7za?|unrar|rar)\\b${rest}-p${value}`,
  ),
  argument(
    ['-p'],
    `(?:sshpass|mongo(?:sh|dump|restore|export|import)?|(?:docker|podman|helm registry|nerdctl) login|cqlsh|az login)\\b${rest}-p ?${value}`,
  ),
  argument(['-P'], `(?:sqlcmd|bcp|mosquitto_(?:pub|sub)|zip|unzip)\\b${rest}-P ?${value}`),
  argument(['-w'], `(?:ldap(?:search|modify|add|delete|passwd)|lftp)\\b${rest}-w ?${value}`),
  argument(['redis-cli'], `redis-cli\\b${rest}-a ?${value}`),
  argument(
    ['-U'],
    `(?:smbclient|rpcclient|net rpc|smbmap)\\b${rest}-U ?["'\`]?[^\\s%"'\`]{1,100}%(?<secret>[^\\s"'\`<>|;&]{4,200})`,
  ),
  // The next word
  argument(
    ['pass', '/rp:'],
    `(?:-(?:store|key|src|dest)pass|-pass(?:in|out)? pass:|/(?:pass|rp):) ?${value}`,
  ),
  argument(
    ['htpasswd'],
    `htpasswd\\s{1,3}-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\\s(?:\\S{1,200}\\s)?\\S{1,100}\\s${value}`,
  ),
  argument(['rabbitmqctl'], `rabbitmqctl\\s(?:add_user|change_password)\\s\\S{1,100}\\s${value}`),
  argument(['net user'], `net user\\s\\S{1,100}\\s(?!/)${value}(?=\\s{1,3}/add)`),
  // Piped
  argument(
    ['sudo', 'passwd', 'login'],
    `echo\\s(?:-n\\s)?${value}["'\`]?\\s{0,3}\\|\\s{0,3}(?:sudo\\s[^\\n|]{0,40}-S|passwd\\b[^\\n|]{0,60}--stdin|(?:docker|podman) login\\b[^\\n|]{0,200}--password-stdin)`,
  ),
  argument(
    ['chpasswd'],
    `echo\\s["'\`]?[\\w.-]{1,60}:(?<secret>[^\\s"'\`<>|;&]{4,200})["'\`]?\\s{0,3}\\|\\s{0,3}(?:sudo\\s{1,3})?chpasswd`,
  ),
  {
    name: 'a password in SQL',
    pattern:
      /\b(?:IDENTIFIED\s{1,3}(?:WITH\s\S{1,60}\s)?(?:BY|AS)|(?:USER|ROLE|LOGIN)\s[^\n;]{1,200}?\sPASSWORD(?:\s{0,3}=)?)\s{0,3}['"](?<secret>[^'"\s]{4,200})['"]/gi,
    needs: ['identified', 'password'],
    judge: isGiven,
  },
  {
    name: 'a password in a password file',
    // host:port:database:user:password
    pattern:
      /^[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w.*-]{1,100}:[\w.*-]{1,100}:(?<secret>[^\s:]{4,200})$/gm,
    judge: isGiven,
  },
  {
    name: 'a session cookie',
    pattern:
      /(?<![A-Za-z0-9])(?:Set-)?Cookie["']?\s{0,3}[:=]\s{0,3}["'`]?[^\n]{0,500}?[\w.-]{1,60}=(?<secret>(?=[^\s;"'`,<>]{0,40}\d)(?=[^\s;"'`,<>]{0,40}[A-Za-z])[^\s;"'`,<>]{20,2000})/gi,
    needs: ['cookie'],
    judge: isSession,
  },
  {
    name: 'a session cookie',
    pattern:
      /(?:PHPSESSID|SESSIONID[A-Z]{0,8}|\bconnect\.sid|session[\w.-]{0,10}|\bremember_token|\bsid)=(?<secret>[A-Za-z0-9%._~+/-]{16,2000})/gi,
    needs: ['sid=', 'session', 'remember_token='],
    judge: isSession,
  },
  {
    name: 'the credential of a session header',
    pattern:
      /(?<![A-Za-z0-9])X-[A-Za-z-]{0,40}(?:Session|Auth|Token|Ticket|Secret|Signature)[A-Za-z-]{0,20}["']?\s{0,3}[:=]\s{0,3}["'`]?(?<secret>[^\s"'`<>,;&]{16,2000})/gi,
    needs: ['x-'],
    judge: isSession,
  },
];

/** Whether a value is what a person gave as a password: neither a placeholder nor a word or number. */
function isGiven(given: string): boolean {
  const text = given.replace(/[).,:]{1,5}$/, '');
  if (text.length < 6 || isPlaceholder(text) || /^[-./\\~]/.test(text)) return false;
  if (isPassword(text)) return true;
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((one) => one.test(text));
  // Two words with a sign between them are a name, and so is a word with a version.
  return (
    classes.length >= 3 || (/[a-z]\d|\d[a-z]/i.test(text) && !/^[a-z]+[-_.]?v?\d{1,2}$/i.test(text))
  );
}

/** Whether a value is the random part of a session, which may be signed or percent-encoded. */
function isSession(given: string): boolean {
  const text = given.replace(/^s(?:%3A|:)/i, '');
  return isRandom(text) && !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
}
