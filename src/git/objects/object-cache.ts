import type { RawObject } from './object.ts';

/** Cache of read objects, bounded in bytes; the least recently used object is evicted first. */
export class ObjectCache<K> {
  readonly #size: number;
  readonly #largest: number;
  readonly #objects = new Map<K, RawObject>();
  #bytes = 0;

  /** @param largest size limit of a cached object, in bytes. */
  constructor(size: number, largest: number) {
    this.#size = size;
    this.#largest = largest;
  }

  has(key: K): boolean {
    return this.#objects.has(key);
  }

  get(key: K): RawObject | undefined {
    const object = this.#objects.get(key);
    if (object) {
      this.#objects.delete(key);
      this.#objects.set(key, object);
    }
    return object;
  }

  /** Caches an object and returns it. */
  keep(key: K, object: RawObject): RawObject {
    if (object.content.length > this.#largest || this.#objects.has(key)) return object;
    this.#objects.set(key, object);
    this.#bytes += object.content.length;
    for (const [oldest, { content }] of this.#objects) {
      if (this.#bytes <= this.#size) break;
      this.#objects.delete(oldest);
      this.#bytes -= content.length;
    }
    return object;
  }
}
