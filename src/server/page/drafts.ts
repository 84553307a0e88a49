/** Texts of a form, by the name of their field. */
export type Texts = Readonly<Record<string, string>>;

/** The form that a draft belongs to. Each project has its own drafts, also behind the same address. */
export interface DraftPlace {
  readonly project: string;
  readonly form: string;
  /** The record that the form edits. */
  readonly path: string;
}

/** Texts that a person has typed into a form. */
export interface Typed {
  readonly texts: Texts;
  /** The values that these texts replace, by the same names. */
  readonly began: Texts;
}

/** Typed texts that are not saved in the memory yet. */
export interface Draft extends Typed {
  /** Each form that is open has a draft of its own, so that two tabs do not replace each other's. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The beginning of the keys in the storage of the browser. */
const prefix = 'memory-bank draft ';
const maxDrafts = 50;
/** Limits of one draft and of all, in characters. */
const maxLength = 1_000_000;
const maxTotal = 2_000_000;
/** The age at which a draft is removed, in milliseconds. */
const maxAge = 30 * 24 * 60 * 60 * 1000;

/** The part of a browser that keeps texts; each call may throw. */
export interface DraftStorage {
  readonly length: number;
  key(at: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, row: string): void;
  removeItem(key: string): void;
}

/** The drafts of a browser, for all tabs. */
export class Drafts {
  readonly #storage: () => DraftStorage;
  readonly #onLoss: (isNear: boolean) => void;
  /** The drafts that the browser does not keep, by their keys. A reload loses them. */
  readonly #unkept = new Map<string, string>();

  /**
   * @param storage may throw: a browser can refuse it.
   * @param onLoss receives whether a reload would lose a draft.
   */
  constructor(storage: () => DraftStorage, onLoss: (isNear: boolean) => void) {
    this.#storage = storage;
    this.#onLoss = onLoss;
  }

  /** Returns the drafts of a form, the newest first. */
  of(place: DraftPlace): Draft[] {
    const rows = new Map([...this.#kept(), ...this.#unkept]);
    return [...rows]
      .flatMap(([key, row]) => {
        const id = idOf(key, place);
        const typed = id === undefined ? undefined : typedOf(row);
        if (id === undefined || !typed || isOld(row)) return [];
        return [{ id, at: new Date(timeOf(row)).toISOString(), ...typed }];
      })
      .sort((a, b) => (a.at < b.at ? 1 : -1));
  }

  /** Keeps a draft in the browser; where this is not possible, until the page is loaded again. */
  keep(place: DraftPlace, id: string, typed: Typed): void {
    const key = keyOf(place, id);
    const row = `${Date.now()} ${JSON.stringify(typed)}`;
    if (row.length <= maxLength && this.#store(key, row)) this.#unkept.delete(key);
    else {
      // Otherwise an older text of this draft would be offered after a reload.
      this.#remove(key);
      this.#unkept.set(key, row);
    }
    this.#onLoss(this.#unkept.size > 0);
  }

  drop(place: DraftPlace, id: string): void {
    const key = keyOf(place, id);
    this.#unkept.delete(key);
    this.#remove(key);
    this.#onLoss(this.#unkept.size > 0);
  }

  /** @returns whether the browser keeps the row. */
  #store(key: string, row: string): boolean {
    // The oldest are first, so that they are the ones to go.
    const others = [...this.#kept()]
      .filter(([other]) => other !== key)
      .sort(([, a], [, b]) => timeOf(a) - timeOf(b));
    let total = row.length + others.reduce((sum, [, other]) => sum + other.length, 0);
    let count = 1 + others.length;
    for (const [other, text] of others) {
      if (count <= maxDrafts && total <= maxTotal && !isOld(text)) continue;
      this.#remove(other);
      count--;
      total -= text.length;
    }
    try {
      this.#storage().setItem(key, row);
      return true;
    } catch {
      return false;
    }
  }

  #remove(key: string): void {
    try {
      this.#storage().removeItem(key);
    } catch {
      // A browser that keeps nothing has nothing to remove.
    }
  }

  /** Returns the drafts that the browser keeps, by their keys. */
  #kept(): ReadonlyMap<string, string> {
    const rows = new Map<string, string>();
    try {
      const storage = this.#storage();
      for (let i = 0; i < storage.length; i++) {
        const key = storage.key(i) ?? '';
        const row = key.startsWith(prefix) ? storage.getItem(key) : null;
        if (row !== null) rows.set(key, row);
      }
    } catch {
      // Without a storage, there are the drafts of this page only.
    }
    return rows;
  }
}

function keyOf({ project, form, path }: DraftPlace, id: string): string {
  return prefix + JSON.stringify([project, form, path, id]);
}

/** Returns the id of a draft; undefined for one of another form. */
function idOf(key: string, place: DraftPlace): string | undefined {
  const start = keyOf(place, '').slice(0, -'"]'.length);
  return key.startsWith(start) ? key.slice(start.length, -'"]'.length) : undefined;
}

function timeOf(row: string): number {
  return Number.parseInt(row, 10) || 0;
}

function isOld(row: string): boolean {
  return Date.now() - timeOf(row) > maxAge;
}

/** Returns what a row says; undefined for a row that another program has written. */
function typedOf(row: string): Typed | undefined {
  try {
    const { texts, began } = JSON.parse(row.slice(row.indexOf(' ') + 1));
    return isTexts(texts) && isTexts(began) ? { texts, began } : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): value is Texts {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}
