/** A kind of credential that is recognised by its form alone. */
export interface Kind {
  /** The name in messages, with its article. */
  readonly name: string;
  /** Global; the group `secret`, or else the whole match, is the credential. */
  readonly pattern: RegExp;
  /**
   * Every match contains one of these texts, in lower case if the pattern ignores case. Most texts contain
   * none, which takes a fraction of the time to find out that the pattern takes.
   */
  readonly needs?: readonly string[];
  /** Sticky; matches what follows the credential and belongs to it, and never fails. */
  readonly rest?: RegExp;
}

/** The beginning of a word, as an expression. */
export const wordStart = '(?<![A-Za-z0-9])';

/**
 * A credential that is a word of its own.
 *
 * Matching takes time linear in the text. Each form starts with fixed characters at the start of a
 * word; the runs of characters after them have only one possible start each.
 */
function word(name: string, form: string): Kind {
  return { name, pattern: new RegExp(`${wordStart}(?:${form})`, 'g') };
}

const hex = '[0-9a-f]';
const letter = '[A-Za-z0-9]';
const base64 = '[A-Za-z0-9+/]';
const url = '[A-Za-z0-9_-]';

/** Signs between two lines of a key, which may be indented, quoted, escaped or part of a difference. */
const between = String.raw`(?:[\s"',#>|+-]|\\[nr]?){1,40}`;
/** The lines of a key after its first one; a short one is the last. */
const keyLines = new RegExp(
  `(?:${between}[A-Za-z0-9+/=]{16,})*(?:${between}[A-Za-z0-9+/=]{1,15}(?=${between}-----END |\\s*$))?`,
  'y',
);

/** The forms that issuers of credentials document or are known to use. */
export const kinds: readonly Kind[] = [
  {
    name: 'a private key',
    // The lines of a key may be indented, quoted or escaped, and follow headers.
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s"',#>|+-]|\\[nr]?|[A-Za-z][A-Za-z-]{0,19}: [^\n\\]{0,100}(?:\n|\\n)){1,40}(?<secret>[A-Za-z0-9+/=]{40,})/g,
    rest: keyLines,
  },
  {
    name: 'a PuTTY private key',
    pattern: /Private-Lines: \d{1,4}(?:[\s"',#>|+-]|\\[nr]?){1,40}(?<secret>[A-Za-z0-9+/=]{40,})/g,
    rest: keyLines,
  },
  word('an age secret key', 'AGE-SECRET-KEY-1[0-9A-Z]{58}'),
  word('a JSON Web Token', `(?<!_|-)eyJ${url}{8,}\\.eyJ${url}{8,}\\.${url}{16,}`),

  // Clouds
  word('an AWS access key', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])'),
  word('an AWS Bedrock key', `ABSK${base64}{80,}`),
  word('a Google API key', `AIza${url}{35}(?!${url})`),
  word('a Google OAuth secret', `GOCSPX-${url}{28}`),
  word('a Google OAuth token', `ya29\\.${url}{30,}`),
  word('a Google OAuth refresh token', `1//0${url}{40,}`),
  word('an Azure storage key', `AccountKey=(?<secret>${base64}{86}==)`),
  // A fixed part near the end of the key, which is matched first.
  {
    name: 'an Azure OpenAI key',
    pattern: /JQQJ99(?<=(?<![A-Za-z0-9])(?<secret>[A-Za-z0-9]{52}JQQJ99))[A-Za-z0-9]{10,40}/g,
  },
  word('a Google key', `AQ\\.A[a-z]${url}{40,}`),
  word('a Cloudflare token', `cf(?:k|ut|at)_${letter}{40,}`),
  word('a Yandex Cloud key', `(?:AQVN${url}{35,38}|t1\\.${url}{40,}\\.${url}{60,})`),
  word('a Scalingo token', `tk-us-${url}{48}`),
  word('an OpenShift token', `sha256~${url}{43}(?!${url})`),
  word('a Deno Deploy token', `dd[pwo]_${letter}{36}`),
  word('an Azure access key', `SharedAccessKey=(?<secret>${base64}{43}=)`),
  word('an Azure client secret', '[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34}'),
  word('an Azure shared access signature', `sig=(?<secret>[A-Za-z0-9%]{40,80}%3[Dd])`),
  {
    name: 'an Azure DevOps token',
    // The fixed part is matched first, which is many times faster.
    pattern: /AZDO(?<=(?<![A-Za-z0-9])(?<secret>[A-Za-z0-9]{75,76})AZDO)[A-Za-z0-9]{4}/g,
  },
  word('a DigitalOcean token', `do[opr]_v1_${hex}{64}`),
  word('an Alibaba Cloud key', `LTAI${letter}{17,21}(?!${letter})`),
  word('a Tencent Cloud key', `AKID${letter}{32}(?!${letter})`),
  word('a Heroku token', `HRKU-${url}{36,}`),
  word('a Fly.io token', `(?:fo1_${url}{43}|fm[12][ar]?_${base64}{80,})`),
  word('a Cloudflare origin key', `v1\\.0-${hex}{24}-${hex}{146}`),
  word('a Netlify token', `nf[pcoub]_${letter}{36,}`),
  word('a Vercel token', `(?:vc[piark]_|vercel_blob_rw_)${letter}{24,}`),
  word('a Render key', `rnd_${letter}{24,}`),
  word('a Supabase key', `(?:sbp_${hex}{40}|sb_secret_${url}{22,})`),
  word('a PlanetScale token', `pscale_(?:tkn|pw|oauth)_${url}{32,}`),
  word('a Neon key', `napi_${letter}{50,}`),
  word('a Databricks token', `dapi${hex}{32}(?!${letter})`),
  word('a MongoDB Atlas secret', `mdb_sa_sk_${url}{30,}`),

  // Forges and package registries
  word('a GitHub token', `(?:gh[pousr]_${letter}{36,}|github_pat_[A-Za-z0-9_]{60,})`),
  word(
    'a GitLab token',
    `(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct)|gloas)-${url}{20,}`,
  ),
  word('an Atlassian token', `(?:AT[AC]TT3|ATBB)[A-Za-z0-9_=-]{24,}`),
  word('a Gitea token', `gta_${letter}{40}`),
  word('an npm token', `npm_${letter}{36}`),
  word('a PyPI token', `pypi-AgE${url}{50,}`),
  word('a RubyGems key', `rubygems_${hex}{48}`),
  word('a crates.io token', `cio${letter}{32}(?!${letter})`),
  word('a NuGet key', 'oy2[a-z0-9]{43}(?![a-z0-9])'),
  word('a Docker token', `dckr_(?:pat|oat)_${url}{27,}`),
  word('a Clojars token', `CLOJARS_[a-z0-9]{60}`),
  word('a JSR token', `jsr[pd]_${letter}{30,}`),
  word('a Sourcegraph token', `sg[pda]_(?:(?:${hex}{16}|local)_)?${hex}{40}`),
  word('a Buildkite token', `bk[upa][atc]_${hex}{40}`),
  word('a CircleCI token', `CCI(?:PAT|PRJ)_${letter}{20,}_${hex}{40}`),
  word('a SonarQube token', `sq[pua]_${hex}{40}`),
  word('a JFrog token', `(?:AKCp${letter}{69}|cmVmdGtu${letter}{56})`),

  // Models
  word('an Anthropic key', `sk-ant-${url}{32,}`),
  word('an OpenRouter key', `sk-or-v1-${hex}{64}`),
  word(
    'an OpenAI key',
    `sk-(?:(?:proj|svcacct|admin|None)-${url}{32,}|${letter}{20}T3BlbkFJ${letter}{20}|${letter}{48}(?!${letter}))`,
  ),
  word('a DeepSeek key', `sk-${hex}{32}(?!${letter})`),
  word('a Hugging Face token', `(?:hf|api_org)_[A-Za-z]{34}`),
  word('a Groq key', `gsk_${letter}{48,}`),
  word('an xAI key', `xai-${letter}{70,}`),
  word('a Perplexity key', `pplx-${letter}{40,}`),
  word('a Replicate token', `r8_${letter}{37}`),
  word('a Cursor key', `(?:crsr_${hex}{48,}|key_${hex}{64})`),
  word('a Cerebras key', `csk-[a-z0-9]{40,}`),
  word('a Fireworks key', `fw_${letter}{22,}`),
  word('a Together key', `tgp_v1_${url}{40,}`),
  word('an NVIDIA key', `nvapi-${url}{60,}`),
  word('an ElevenLabs key', `sk_${hex}{48}(?!${letter})`),
  word('a Voyage key', `pa-${url}{43}(?!${url})`),
  word('a Jina key', `jina_${hex}{32}${url}{28,}`),
  word('a Tavily key', `tvly-(?:dev-|prod-)?${url}{30,}`),
  word('a Firecrawl key', `fc-${hex}{32}(?!${letter})`),
  word('a Langfuse key', `sk-lf-${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`),
  word('a Pinecone key', `pcsk_[A-Za-z0-9_]{60,}`),
  word('an E2B key', `e2b_${hex}{40}`),
  word('a Mem0 key', `m0-${letter}{40}(?!${letter})`),
  word('a RunPod key', `rpa_[A-Z0-9]{40,}`),
  word('a LangSmith key', `lsv2_(?:pt|sk)_${hex}{32}_${hex}{10}`),

  // Messaging and mail
  word('a Slack token', `xox[abeoprs]-${url}{16,}|xapp-\\d-${url}{24,}`),
  word(
    'a Slack webhook',
    `hooks\\.slack\\.com/(?:services|workflows|triggers)/(?<secret>[A-Za-z0-9/]{36,})`,
  ),
  word('a Discord token', `[MNO]${url}{23,27}\\.${url}{6}\\.${url}{27,}`),
  word('a Discord webhook', `discord(?:app)?\\.com/api/webhooks/\\d{5,25}/(?<secret>${url}{60,})`),
  word('a Teams webhook', `webhook\\.office\\.com/webhookb2/(?<secret>[A-Za-z0-9@/-]{100,})`),
  word('a Telegram bot token', `\\d{8,10}:AA${url}{33}(?!${url})`),
  word('a SendGrid key', `SG\\.${url}{22}\\.${url}{43}`),
  word('a Mailgun key', `key-${hex}{32}(?!${letter})`),
  {
    name: 'a Mailchimp key',
    pattern: /-us(?<=(?<![A-Za-z0-9])(?<secret>[0-9a-f]{32})-us)\d{1,2}(?![A-Za-z0-9])/g,
  },
  word('a Twilio key', `SK${hex}{32}(?!${letter})`),
  word('a Resend key', `re_${letter}{8}_${letter}{20,}`),
  word('a HubSpot token', `pat-(?:na|eu|ap)\\d-${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`),
  word('a Brevo key', `xkeysib-${hex}{64}-${letter}{16}`),

  // Money
  word('a Stripe key', `(?:sk|rk)_(?:live|test)_${letter}{16,}`),
  word('a webhook signing secret', `whsec_${base64}{24,}`),
  word('a Square token', `sq0(?:atp|csp)-${url}{22,}|EAAA${url}{56,}`),
  word('a Braintree token', `access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$${hex}{32}`),
  word(
    'a Plaid token',
    `access-(?:sandbox|development|production)-${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`,
  ),
  word('a Flutterwave key', `FLWSECK(?:_TEST)?-${letter}{32}-X`),
  word('a Polar token', `polar_(?:oat|pat|whs)_${letter}{30,}`),
  word('a Shippo token', `shippo_(?:live|test)_${hex}{40}`),
  word('an EasyPost key', `EZ[AT]K${letter}{54}`),
  word('a Duffel token', `duffel_(?:test|live)_${url}{43}`),
  word('a Shopify token', `shp(?:at|ca|pa|ss)_${hex}{32}`),

  // Operations
  word('a HashiCorp Vault token', `hv[sbr]\\.${url}{24,}`),
  { name: 'a Terraform Cloud token', pattern: /\.atlasv1\.[A-Za-z0-9_-]{60,}/g },
  word('a Doppler token', `dp\\.(?:pt|ct|st|sa|scim|audit)\\.[A-Za-z0-9._-]{40,}`),
  word('a 1Password token', `ops_eyJ${base64}{100,}`),
  word('a Pulumi token', `pul-${hex}{40}`),
  word('a Tailscale key', `tskey-(?:api|auth|client|scim|webhook)-${url}{20,}`),
  word('an ngrok token', `[12][A-Za-z0-9]{26}_${letter}{21}(?!${letter})`),
  word('a Sentry token', `sntry[su]_[A-Za-z0-9+/=_]{40,}`),
  word('a Grafana token', `gl(?:c|sa)_[A-Za-z0-9+/_]{32,}`),
  word('a New Relic key', `NR(?:AK|JS|RA|II)-${letter}{24,}`),
  word('a Dynatrace token', 'dt0[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}'),
  word('a PostHog key', `phx_${letter}{40,}`),
  word('a Prefect key', `pn[bu]_${letter}{36}`),
  word('a dbt token', `dbt[uc]_${url}{40,}`),
  word('an Infracost key', `ico-${letter}{32}(?!${letter})`),
  word('a Harness token', `pat\\.${url}{22}\\.${hex}{24}\\.${letter}{20}`),
  word('an Octopus Deploy key', `API-[A-Z0-9]{26,40}(?!${letter})`),
  word('an Inngest signing key', `signkey-(?:prod|test|branch)-${hex}{64}`),
  word('a Trigger.dev key', `tr_(?:dev|prod|stg|pat)_${letter}{20,}`),
  word('a LaunchDarkly key', `(?:sdk|mob|api)-${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`),

  // Work
  word('a Linear key', `lin_(?:api|oauth)_${letter}{32,}`),
  word('a Notion token', `(?:ntn_${letter}{40,}|secret_${letter}{43}(?!${letter}))`),
  word('a Contentful token', `CFPAT-${url}{43}`),
  word('a Typeform token', `tfp_${url}{40,}`),
  word('a ReadMe key', `rdme_[a-z0-9]{70}`),
  word('a Mapbox secret token', `sk\\.eyJ${url}{50,}\\.${url}{20,}`),
  word('a Figma token', `fig[duo][a-z]?_${url}{40,}`),
  word('an Airtable token', `pat${letter}{14}\\.${hex}{64}`),
  word('a Postman key', `PMAK-${hex}{24}-${hex}{34}`),
  word('a Dropbox token', `sl\\.(?:u\\.)?${url}{60,}`),
  word('a Facebook token', `EAA[MC]${letter}{80,}`),
  word('an Okta token', `SSWS (?<secret>00${url}{40})`),
];
