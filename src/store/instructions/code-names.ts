import type { NameSource } from './name-sources.ts';

/** The name of an environment variable; one without `_` could be any word. */
export const variableName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** Variables that other programs and libraries also read, whatever the code of the project does. */
const known =
  /^(?:AI|ALL|ANDROID|ANTHROPIC|AWS|AZURE|BUN|CARGO|CHROME|CI|CLAUDE|CLOUDFLARE|COHERE|COMPOSE|CONDA|DATABASE|DENO|DOCKER|ELECTRON|EXPO|GCLOUD|GCP|GEMINI|GIT|GITHUB|GITLAB|GO|GOOGLE|GPG|GRADLE|GROQ|HELM|HF|HTTP|HTTPS|HUGGINGFACE|JAVA|KUBE|LANGCHAIN|LANGFUSE|LANGSMITH|LC|LD|MAVEN|MCP|MISTRAL|MONGO|MYSQL|NETLIFY|NEXT|NO|NODE|NPM|OLLAMA|OPENAI|OTEL|PG|PIP|PLAYWRIGHT|PNPM|POETRY|POSTGRES|PUPPETEER|PYTHON|PYTEST|RAILS|REACT|REDIS|RUST|RUSTUP|SENTRY|SSH|SSL|TF|TRANSFORMERS|UV|VERCEL|VIRTUAL|VITE|XDG|YARN)_/;

/** Returns the variable that a word of a text names. */
export function variableIn(word: string): string | undefined {
  const [, name] =
    /^(?:process\.env\.|import\.meta\.env\.|\$\{?)?([A-Z][A-Z0-9_]*)\}?(?:=\S*)?$/.exec(word) ?? [];
  if (name === undefined || !variableName.test(name) || known.test(name)) return undefined;
  return name;
}

/** How code reads a variable. */
const reading =
  /(?:process\.env\.|import\.meta\.env\.|\benv\.|(?:process\.env|environ|\bENV|\$_ENV|getenv|Getenv|LookupEnv|\bvar|\bvar_os|\benv!?|environ\.get|GetEnvironmentVariable|System\.getenv)\s{0,2}[[(]\s{0,2}["'`])([A-Z][A-Z0-9_]*)/g;

/** A word of several parts in lower case: a field, a key or an option can stand for a variable. */
const lowerWord = /(?<![A-Za-z0-9])[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+/g;
/** A text that can be the beginning of names. */
const prefix = /["'`]([A-Z][A-Z0-9_]*?)_?["'`$%{]/g;

/**
 * The names of variables that code, settings and scripts contain. A variable that is read has the value
 * `read`; the name can also be put together from a prefix, or be that of a field or an option.
 */
export const variables: NameSource = {
  name: 'variable',
  files:
    /^(?:\.env(?:\.[\w.-]+)?|(?:Dockerfile|Makefile|Procfile|justfile)(?:\..+)?|.+\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|pyi|ipynb|rs|go|rb|ex|exs|erl|php|java|kts?|scala|cs|fs|swift|dart|c|cc|cpp|h|hpp|zig|nim|jl|lua|pl|r|sh|bash|zsh|fish|ps1|cmd|bat|nix|tf|toml|ya?ml|json|jsonc|ini|cfg|conf|service|env|example|sample|template|tmpl|mk))$/i,
  usual: [],
  maxFiles: 5000,
  isAnywhere: true,
  // Other code that has the name of a variable says nothing about the environment.
  proof: 'read',
  read(text) {
    const names = new Map<string, string>();
    for (const [name] of text.matchAll(
      /(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9_])/g,
    )) {
      names.set(name, '');
    }
    for (const [, name = ''] of text.matchAll(reading)) names.set(name, 'read');
    const others = new Set<string>();
    for (const [word] of text.matchAll(lowerWord))
      others.add(word.replaceAll('-', '_').toUpperCase());
    const prefixes = new Set<string>();
    for (const [, start = ''] of text.matchAll(prefix)) prefixes.add(start);
    const mayHave = (name: string) => {
      if (others.has(name)) return true;
      const parts = name.split('_');
      return parts.some((_, i) => i > 0 && prefixes.has(parts.slice(0, i).join('_')));
    };
    return { names, mayHave };
  },
};

/** The name of the package of a `Cargo.toml`; undefined for one without a package. */
export function cargoPackage(text: string): string | undefined {
  return /^\[package\][^[]*?^name[ \t]*=[ \t]*["']([\w-]+)["']/ms.exec(text)?.[1];
}

/** The names of the binaries that a `Cargo.toml` declares. */
export function cargoBinaries(text: string): string[] {
  const found = text.matchAll(/^\[\[bin\]\][^[]*?^name[ \t]*=[ \t]*["']([\w-]+)["']/gms);
  return [...found].map(([, name = '']) => name);
}

/** The packages of a workspace of Cargo; a command can also name a dependency. */
export const crates: NameSource = {
  name: 'crate',
  files: /^Cargo\.toml$/,
  usual: ['Cargo.toml'],
  isAnywhere: true,
  read(text) {
    const own = cargoPackage(text);
    const names = new Map(own === undefined ? [] : [[own, '']]);
    return { names, mayHave: (name) => text.includes(name) };
  },
};

/** The binaries of the packages of Cargo. */
export const binaries: NameSource = {
  name: 'binary',
  files: /^Cargo\.toml$/,
  usual: ['Cargo.toml'],
  isAnywhere: true,
  read(text) {
    const names = new Map(cargoBinaries(text).map((name) => [name, '']));
    return { names, mayHave: (name) => text.includes(name) };
  },
};
