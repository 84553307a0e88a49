import { Anchors } from '../../core/markdown/anchors.ts';
import { type Block, parseBlocks } from '../../core/markdown/blocks.ts';

/** A kind of files that define names: scripts, targets, headings, versions. */
export interface NameSource {
  readonly name: string;
  /** Names of its files; undefined where a claim names the file itself. */
  readonly files: RegExp | undefined;
  /** The usual name of such a file. */
  readonly usual: readonly string[];
  /** Limit of its files, if it is not the usual one; in a project with more of them no name is judged. */
  readonly maxFiles?: number;
  /** Whether a file that was removed from any folder can have defined a name. */
  readonly isAnywhere?: boolean;
  /** The value of a name whose removal proves something; undefined for any. */
  readonly proof?: string;
  /** An expression for the forms of a name; the name itself by default. Letter case does not count. */
  formsOf?(name: string): string;
  /** The names that a text defines; undefined if that cannot be said. */
  read(text: string): DefinedNames | undefined;
}

/** The names that a file defines. */
export interface DefinedNames {
  /** Each name with what it stands for, where two names can stand for the same. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether it can define a name that is not among them. */
  mayHave(name: string): boolean;
}

const nothingElse = () => false;

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function packageJson(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The scripts of a `package.json`; a dependency can bring a program of the same name. */
export const scripts: NameSource = {
  name: 'script',
  files: /^package\.json$/,
  usual: ['package.json'],
  read(text) {
    const value = packageJson(text);
    if (!value) return undefined;
    const own = isObject(value.scripts) ? value.scripts : {};
    const programs = [value.dependencies, value.devDependencies, value.bin].flatMap((one) =>
      isObject(one) ? Object.keys(one) : [],
    );
    return {
      names: new Map(Object.entries(own).map(([name, command]) => [name, String(command)])),
      mayHave: (name) => programs.some((one) => one === name || one.endsWith(`/${name}`)),
    };
  },
};

/** The targets of a Makefile. Patterns, variables and included files can define more. */
export const makeTargets: NameSource = {
  name: 'target',
  files: /^(?:GNUmakefile|[Mm]akefile|.+\.mk|Makefile\..+)$/,
  usual: ['Makefile', 'makefile', 'GNUmakefile'],
  read(text) {
    const names = new Map<string, string>();
    const patterns: string[] = [];
    let isOpen = false;
    for (const line of logicalLines(text)) {
      if (line.startsWith('\t')) continue;
      const included = /^[ ]*[-s]?include[ \t]+(.*)$/.exec(line)?.[1];
      // Other Makefiles of the project are read as well.
      if (included !== undefined && !/^[\w./ -]+$/.test(included)) isOpen = true;
      if (/^[ ]*(?:\$\(eval|\$\(foreach|\$\(call|\$\{|define\b)/.test(line)) isOpen = true;
      const colon = line.indexOf(':');
      if (colon < 0 || line[colon + 1] === '=' || line.startsWith(':=', colon + 1)) continue;
      const head = line.slice(0, colon);
      if (head.includes('=') || head.includes('#')) continue;
      for (const name of head.trim().split(/[ \t]+/)) {
        if (name.includes('$')) isOpen = true;
        else if (name.includes('%')) patterns.push(name);
        else if (name !== '') names.set(name, '');
      }
      // `.PHONY` also lists targets that an included file defines.
      if (head.trim() === '.PHONY' && line.includes('$')) isOpen = true;
    }
    const matches = (name: string, pattern: string) => {
      const [before = '', after = ''] = pattern.split('%');
      return name.startsWith(before) && name.endsWith(after);
    };
    return { names, mayHave: (name) => isOpen || patterns.some((one) => matches(name, one)) };
  },
};

/** The lines of a Makefile, each with the lines that continue it. */
function logicalLines(text: string): string[] {
  return text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
}

/** The recipes of a justfile. Imports and modules can define more. */
export const justRecipes: NameSource = {
  name: 'recipe',
  files: /^(?:\.?[Jj]ustfile|.+\.just)$/,
  usual: ['justfile', 'Justfile', '.justfile'],
  read(text) {
    const names = new Map<string, string>();
    let isOpen = false;
    for (const line of logicalLines(text)) {
      if (/^(?:import|mod)\b/.test(line)) isOpen = true;
      const alias = /^alias[ \t]+([\w-]+)[ \t]*:=/.exec(line)?.[1];
      const recipe = /^@?([A-Za-z_][\w-]*)(?:[ \t][^:]*)?:(?!=)/.exec(line)?.[1];
      const name = alias ?? recipe;
      if (name !== undefined) names.set(name, '');
    }
    return { names, mayHave: () => isOpen };
  },
};

/** The anchors of a markdown text: its headings, and the ids in its HTML. */
export const anchors: NameSource = {
  name: 'heading',
  files: undefined,
  usual: [],
  read(text) {
    const names = new Map<string, string>();
    const made = new Anchors();
    const add = (blocks: readonly Block[]) => {
      for (const { kind, text: heading = '', children } of blocks) {
        if (kind === 'heading') {
          const custom = /\{[:]?[ ]*#([\w.:-]+)[^{}]*\}[ \t]*$/.exec(heading)?.[1];
          if (custom !== undefined) names.set(custom.toLowerCase(), '');
          names.set(made.next(plainHeading(heading)), '');
        } else add(children);
      }
    };
    add(parseBlocks(text));
    for (const [, , id = ''] of text.matchAll(/\b(?:id|name)=(["'])([^"'\s<>]{1,200})\1/g)) {
      names.set(id.toLowerCase(), '');
    }
    // Programs that make anchors in another way.
    const isOpen = /^(?:\[\[_?TOC|:::|import |export |\{%|\{\{)/m.test(text);
    return { names, mayHave: () => isOpen };
  },
};

/** A heading as it is read: without the marks and targets of links, code and emphasis. */
function plainHeading(heading: string): string {
  return heading
    .replace(/<[^<>]{0,300}>/g, '')
    .replace(/!?\[([^\][]{0,300})\]\([^()\s]{0,500}\)/g, '$1')
    .replace(/:[a-z0-9_+-]{1,40}:/g, (emoji) => emoji.slice(1, -1))
    .replace(/[*`~]/g, '')
    .trim();
}

/** The least version of a language that a manifest asks for, such as `node 20`. */
const runtimeOf: readonly (readonly [file: string, read: (text: string) => string | undefined])[] =
  [
    [
      'package.json',
      (text) => {
        const engines = packageJson(text)?.engines;
        const node = isObject(engines) ? String(engines.node ?? '') : '';
        const version = /^(?:>=|\^|~)?[ ]*v?(\d{1,2})(?:\.(\d+))?/.exec(node.trim())?.[1];
        return version && `node ${version}`;
      },
    ],
    ['go.mod', (text) => prefixed('go', /^go[ \t]+(\d+\.\d+)/m.exec(text)?.[1])],
    [
      'Cargo.toml',
      (text) =>
        prefixed('rust', /^rust-version[ \t]*=[ \t]*"(\d+\.\d+)(?:\.\d+)?"/m.exec(text)?.[1]),
    ],
    [
      'pyproject.toml',
      (text) =>
        prefixed('python', /^requires-python[ \t]*=[ \t]*["']>=[ ]*(\d\.\d+)/m.exec(text)?.[1]),
    ],
  ];

function prefixed(language: string, version: string | undefined): string | undefined {
  return version === undefined ? undefined : `${language} ${version}`;
}

/** The manifests that say the least version of a language. */
export const runtimes: ReadonlyMap<string, NameSource> = new Map(
  (['node', 'go', 'rust', 'python'] as const).map((language, index) => {
    const [file = '', read] = runtimeOf[index] ?? [];
    return [
      language,
      {
        name: `version of ${language}`,
        files: undefined,
        usual: [file],
        read(text) {
          const version = read?.(text);
          const names = new Map(version === undefined ? [] : [[version, '']]);
          return { names, mayHave: version === undefined ? () => true : nothingElse };
        },
      },
    ];
  }),
);
