import { seeded } from './seeded.ts';

/** A text that contains a credential, or a near miss. */
export interface Sample {
  /** Kind of the text, for test titles. */
  readonly name: string;
  readonly text: string;
}

const digits = '0123456789';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const alphabets = {
  digits,
  hex: `${digits}abcdef`,
  letters: lower + upper,
  base32: `${upper}234567`,
  caps: upper + digits,
  base36: lower + digits,
  word: lower + upper + digits,
  base64: `${lower + upper + digits}+/`,
  url: `${lower + upper + digits}-_`,
};

/** Makes random-looking texts from an alphabet. */
function maker(seed: number) {
  const next = seeded(seed);
  return (length: number, alphabet: keyof typeof alphabets = 'word'): string => {
    const chars = alphabets[alphabet];
    const text = Array.from({ length }, () => chars[Math.floor(next() * chars.length)]);
    return text.join('');
  };
}

const encoded = (text: string) => Buffer.from(text).toString('base64url');
const lines = (text: string) => text.replace(/.{64}/g, '$&\n');

/**
 * Makes one credential of every kind, none of which is valid anywhere.
 *
 * They are assembled at run time, so that no scanner finds one in this repository.
 */
export function credentials(seed = 1): Sample[] {
  const r = maker(seed);
  const uuid = () => [8, 4, 4, 4, 12].map((n) => r(n, 'hex')).join('-');
  const jwt = () =>
    [
      encoded('{"alg":"HS256","typ":"JWT"}'),
      encoded(`{"sub":"${r(12)}","iat":1}`),
      r(43, 'url'),
    ].join('.');
  const pem = (kind: string, body: string) =>
    [`-----BEGIN ${kind}PRIVATE KEY-----`, body, `-----END ${kind}PRIVATE KEY-----`].join('\n');
  const key = () => `MII${lines(r(300, 'base64'))}`;
  const all: readonly (readonly [name: string, text: string])[] = [
    ['AWS access key', `the key is ${'AK'}IA${r(16, 'base32')}.`],
    ['AWS temporary key', `${'AS'}IA${r(16, 'base32')}`],
    ['AWS secret key', `aws_secret_access_key = ${r(39, 'base64')}7`],
    ['AWS secret key in JSON', `{"SecretAccessKey": "${r(38, 'base64')}b7"}`],
    ['Google API key', `key=${'AI'}za${r(35, 'url')}`],
    ['Google OAuth secret', `${'GOC'}SPX-${r(28, 'url')}`],
    ['Google OAuth token', `${'ya'}29.${r(60, 'url')}`],
    ['Google service account', JSON.stringify({ private_key: pem('', key()), client_id: '1' })],
    [
      'Azure storage key',
      `DefaultEndpointsProtocol=https;AccountName=x;${'Account'}Key=${r(86, 'base64')}==;`,
    ],
    ['Azure client secret', `${r(3)}8Q~${r(34)}`],
    ['Azure service bus', `Endpoint=sb://x/;${'SharedAccess'}Key=${r(43, 'base64')}=`],
    ['DigitalOcean token', `${'dop'}_v1_${r(64, 'hex')}`],
    ['Alibaba key', `${'LT'}AI${r(20)}`],
    ['Heroku token', `${'HR'}KU-${r(50, 'url')}`],
    ['Supabase key', `${'sb'}p_${r(40, 'hex')}`],
    ['Databricks token', `${'da'}pi${r(32, 'hex')}`],
    ['GitHub token', `${'gh'}p_${r(36)}`],
    ['GitHub app token', `export GITHUB_TOKEN=${'gh'}s_${r(36)}`],
    ['GitHub fine-grained token', `${'github'}_pat_${r(22)}_${r(59)}`],
    ['GitLab token', `${'gl'}pat-${r(20, 'url')}`],
    ['GitLab runner token', `${'gl'}rt-${r(20, 'url')}`],
    ['Atlassian token', `${'ATA'}TT3xFfGF0${r(170, 'url')}`],
    ['Bitbucket password', `${'AT'}BB${r(28)}`],
    ['npm token', `//registry.example.org/:_authToken=${'np'}m_${r(36)}`],
    ['PyPI token', `${'py'}pi-AgEIcHlwaS5vcmc${r(60, 'url')}`],
    ['RubyGems key', `${'ruby'}gems_${r(48, 'hex')}`],
    ['Docker token', `${'dck'}r_pat_${r(27, 'url')}`],
    ['Anthropic key', `${'sk-'}ant-api03-${r(93, 'url')}AA`],
    ['OpenAI key', `${'sk-'}proj-${r(48, 'url')}`],
    ['OpenAI key, old form', `OPENAI_API_KEY="${'sk'}-${r(20)}${'T3Blbk'}FJ${r(20)}"`],
    ['OpenRouter key', `${'sk-'}or-v1-${r(64, 'hex')}`],
    ['Hugging Face token', `${'hf'}_${r(34, 'letters')}`],
    ['Groq key', `${'gs'}k_${r(52)}`],
    ['Slack bot token', `${'xo'}xb-${r(12, 'digits')}-${r(12, 'digits')}-${r(24)}`],
    ['Slack app token', `${'xa'}pp-1-A${r(10, 'caps')}-${r(13, 'digits')}-${r(64, 'hex')}`],
    [
      'Slack webhook',
      `https://hooks.${'slack'}.com/services/T${r(10, 'caps')}/B${r(10, 'caps')}/${r(24)}`,
    ],
    ['Discord token', `${'MT'}${r(24)}.${r(6)}.${r(38, 'url')}`],
    ['Discord webhook', `https://discord.com/${'api'}/webhooks/${r(18, 'digits')}/${r(68, 'url')}`],
    ['Telegram bot token', `${r(10, 'digits')}:AA${r(33, 'url')}`],
    ['SendGrid key', `${'S'}G.${r(22, 'url')}.${r(43, 'url')}`],
    ['Mailgun key', `${'ke'}y-${r(32, 'hex')}`],
    ['Mailchimp key', `${r(32, 'hex')}-us14`],
    ['Twilio key', `${'S'}K${r(32, 'hex')}`],
    ['Stripe key', `${'sk'}_live_${r(24)}`],
    ['Stripe restricted key', `${'rk'}_test_${r(24)}`],
    ['Stripe webhook secret', `${'whs'}ec_${r(32)}`],
    ['Shopify token', `${'shp'}at_${r(32, 'hex')}`],
    ['Square token', `${'sq'}0atp-${r(22, 'url')}`],
    ['Plaid token', `${'acc'}ess-production-${uuid()}`],
    ['Vault token', `${'hv'}s.${r(90, 'url')}`],
    ['Terraform Cloud token', `${r(14)}.${'atlas'}v1.${r(67, 'url')}`],
    ['Doppler token', `${'dp'}.pt.${r(43)}`],
    ['Pulumi token', `${'pu'}l-${r(40, 'hex')}`],
    ['Tailscale key', `${'ts'}key-auth-${r(11)}CNTRL-${r(32)}`],
    ['Sentry token', `${'snt'}ryu_${r(64, 'hex')}`],
    ['Grafana token', `${'gl'}sa_${r(32)}_${r(8, 'hex')}`],
    ['New Relic key', `${'NR'}AK-${r(27, 'caps')}`],
    ['Linear key', `${'lin'}_api_${r(40)}`],
    ['Notion token', `${'nt'}n_${r(46)}`],
    ['Figma token', `${'fig'}d_${r(40, 'url')}`],
    ['Airtable token', `${'pa'}t${r(14)}.${r(64, 'hex')}`],
    ['Postman key', `${'PM'}AK-${r(24, 'hex')}-${r(34, 'hex')}`],
    ['age secret key', `${'AGE-SECRET'}-KEY-1${r(58, 'caps')}`],
    ['RSA private key', pem('RSA ', key())],
    ['EC private key', pem('EC ', `MHc${lines(r(160, 'base64'))}`)],
    ['OpenSSH private key', pem('OPENSSH ', `b3BlbnNzaC1rZXktdjEAAAA${lines(r(300, 'base64'))}`)],
    [
      'encrypted private key',
      pem('RSA ', `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${r(32, 'hex')}\n\n${key()}`),
    ],
    [
      'PGP private key',
      pem('PGP ', `Version: GnuPG v2\n\n${lines(r(300, 'base64'))}`).replaceAll(
        'KEY-----',
        'KEY BLOCK-----',
      ),
    ],
    ['indented private key', pem('', key()).replace(/^/gm, '    ')],
    ['JSON Web Token', jwt()],
    ['bearer token', `Authorization: Bearer ${r(40)}`],
    [
      'basic credentials',
      `Authorization: Basic ${Buffer.from(`deploy:${r(20)}`).toString('base64')}`,
    ],
    ['password in a database URL', `postgres://app:${r(14)}@db.internal:5432/app`],
    ['password in a git URL', `https://bot:${r(20)}@git.example.org/a/b.git`],
    ['password at a host of manuals', `https://bot:${r(12)}4x@example.com/a`],
    ['password in a Redis URL', `REDIS_URL=redis://:${r(16)}@cache:6379/0`],
    ['password that says so', `password: StagingSecret#${r(4, 'digits')}`],
    ['password in settings', `DB_PASSWORD=${r(18)}9z`],
    ['password in YAML', `  password: "${r(10)}#4kQ"`],
    ['password in prose', `The password for the staging server is ${r(6)}!7xQ2`],
    ['token in JSON', `{ "access_token": "${r(40)}" }`],
    ['hexadecimal API key', `api_key: ${r(32, 'hex')}`],
    ['client secret', `clientSecret: '${r(32)}',`],
    ['signing key in code', `const SIGNING_KEY = "${r(43, 'base64')}=";`],
    ['session secret', `SESSION_SECRET=${r(64, 'hex')}`],
    ['token in markdown', `- **API token**: \`${r(32, 'base36')}\``],
    ['password of a .netrc', `machine git.example.org login bot password ${r(24)}`],
  ];
  return all.map(([name, text]) => ({ name, text }));
}

/** Makes near misses: texts that a careless rule would report. */
export function nearMisses(seed = 1): Sample[] {
  const r = maker(seed);
  const uuid = [8, 4, 4, 4, 12].map((n) => r(n, 'hex')).join('-');
  const all: readonly (readonly [name: string, text: string])[] = [
    ['MD5', r(32, 'hex')],
    ['SHA-1 of a commit', `commit ${r(40, 'hex')}`],
    ['short commit', `fixed in ${r(7, 'hex')}`],
    ['SHA-256', `sha256:${r(64, 'hex')}`],
    ['SHA-512 of a package', `"integrity": "sha512-${r(86, 'base64')}=="`],
    ['integrity of a script', `integrity="sha384-${r(64, 'base64')}"`],
    ['UUID', uuid],
    ['id of a project', `project_id: ${uuid}`],
    ['UUID as a key', `key: ${uuid}`],
    ['token that is a UUID', `token: ${uuid}`],
    ['ULID', `Memory-Session: 01${r(24, 'caps')}`],
    ['nanoid', `id: ${r(12, 'url')}`],
    ['image', `![logo](data:image/png;base64,${r(400, 'base64')})`],
    ['font', `src: url(data:font/woff2;base64,${r(300, 'base64')}==)`],
    ['source map', `//# sourceMappingURL=data:application/json;base64,${r(200, 'base64')}`],
    ['public key of SSH', `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${r(43, 'base64')} me@host`],
    [
      'public key',
      `-----BEGIN PUBLIC KEY-----\n${lines(r(200, 'base64'))}\n-----END PUBLIC KEY-----`,
    ],
    [
      'certificate',
      `-----BEGIN CERTIFICATE-----\n${lines(r(400, 'base64'))}\n-----END CERTIFICATE-----`,
    ],
    ['private key left out', '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----'],
    ['private key named', 'put the text from -----BEGIN RSA PRIVATE KEY----- to the end in a file'],
    ['bcrypt hash', `password_hash: $2b$12$${r(53)}`],
    ['AWS example key', `${'AKIA'}IOSFODNN7EXAMPLE`],
    ['AWS example secret', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
    ['AWS key of X', `${'AKIA'}XXXXXXXXXXXXXXXX`],
    ['AWS ARN', 'arn:aws:iam::123456789012:role/deploy-production-2024'],
    ['GitHub token left out', 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['OpenAI key left out', 'OPENAI_API_KEY=sk-...'],
    ['OpenAI key to be filled in', 'OPENAI_API_KEY=sk-your-openai-api-key-goes-here-1234'],
    ['Anthropic key left out', 'sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['Slack token left out', 'xoxb-your-bot-token-goes-right-here'],
    ['Stripe key left out', 'STRIPE_SECRET_KEY=sk_test_...'],
    ['Stripe key of X', 'sk_live_xxxxxxxxxxxxxxxxxxxxxxxx'],
    [
      'JWT of the manuals',
      `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.${'eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ'}.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c`,
    ],
    ['JWT in part', 'eyJhbGciOiJIUzI1NiJ9...'],
    ['variable of the environment', 'password: process.env.DATABASE_PASSWORD_V2'],
    ['variable of a shell', 'export API_TOKEN="$MY_API_TOKEN_2024"'],
    ['variable of a template', 'token: {{ secrets.DEPLOY_TOKEN_V2_PROD }}'],
    ['variable of a workflow', `token: ${'$'}{{ secrets.GITHUB_TOKEN }}`],
    ['call', "const token = createToken(user.id, 'access', 3600)"],
    ['chain of properties', 'apiKey = config.services.payment2.apiKeyV3'],
    ['name of code', 'exports.k8sServiceAccountTokenProvider = k8sServiceAccountTokenProvider;'],
    ['element of a list', 'return { username: userPass[1], password: userPass[2] };'],
    ['changeme', 'password=changeme'],
    ['password', 'DB_PASSWORD=password123'],
    ['placeholder in angles', 'password: <your-password-here-2024>'],
    ['stars', 'password: ****************'],
    ['to be replaced', 'SECRET_KEY=replace-me-with-32-random-bytes-a1b2c3'],
    ['Django', 'SECRET_KEY = os.environ["DJANGO_SECRET_KEY_V2"]'],
    ['user and password', 'postgres://user:password@localhost:5432/db'],
    ['user as password', 'postgres://postgres:postgres@localhost:5432/app'],
    ['password of a variable', `postgres://app:${'$'}{DB_PASS}@db/app`],
    ['password in angles', 'mysql://root:<password>@localhost'],
    ['password at a host of manuals', "new URL('https://abc:xyz@example.com/')"],
    ['URL with a port', 'http://localhost:3000/@scope/package'],
    ['URL with an at sign', 'https://example.org:8080/users/@me'],
    ['scoped package', 'https://registry.example.org/@babel/core/-/core-7.24.0.tgz'],
    ['count of tokens', 'max_tokens: 4096, total_tokens=128000'],
    ['tokenizer', 'tokenizer: cl100k_base'],
    ['type of a token', 'token_type: Bearer'],
    ['bearer in prose', 'sends a Bearer token in the Authorization header'],
    ['basic in prose', 'Basic authentication-and-authorization flow'],
    ['user and password in base64', "authorization: 'Basic dXNlcm5hbWU6cGFzc3dvcmQ='"],
    ['Aladdin', 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ['hash function', 'Password hashing: bcrypt (12 rounds), argon2id later'],
    ['class', 'password: PasswordResetController2FA'],
    ['path', 'secret: ./config/keys/2024-06/service-v2.json'],
    ['version', 'auth: next-auth@5.0.0-beta.19'],
    ['date', 'token expires: 2024-06-01T12:30:45.123Z'],
    ['number of a ticket', 'token: PROJ-1234, PROJ-1235'],
    ['lorem', 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor'],
    ['long identifier', 'useAuthenticatedUserSessionRefreshTokenRotationMiddleware'],
    ['long kebab case', 'secret: my-app-production-database-credentials-v2'],
    ['CSS', '.sk-fading-circle-animation-delay-container { color: #a1b2c3 }'],
    ['hex colours', 'key-colors: #ff00aa, #12ab34, #99ccff'],
    ['address of a contract', `0x${r(40, 'hex')}`],
    ['ETag', `ETag: "${r(32, 'hex')}"`],
    ['id of a chat', `chatcmpl-${r(29)}`],
    ['public key of Stripe', `${'pk'}_live_${r(24)}`],
    ['SID of Twilio', `AC${r(32, 'hex')}`],
    ['video', `https://youtu.be/${r(11, 'url')}`],
    ['document', `https://docs.google.com/document/d/1${r(43, 'url')}/edit`],
    ['design', `https://www.figma.com/file/${r(22)}/Design`],
  ];
  return all.map(([name, text]) => ({ name, text }));
}
