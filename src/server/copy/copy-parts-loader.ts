import { RefusedRequest } from '../page/refused-request.ts';
import type { CopyParts } from './copy-parts.ts';
import { bytesIn } from './part-letters.ts';

const loaded = new Map<string, Promise<unknown>>();
const arrivals = new Map<string, (part: string) => void>();

/** Receives a part from its file. */
Reflect.set(globalThis, 'memoryPart', (name: string, part: string) => arrivals.get(name)?.(part));

/** Loads a part of the copy: from this document, or from a script, as a file may not read other files. */
export function part<N extends keyof CopyParts & string>(name: N): Promise<CopyParts[N]> {
  const known = loaded.get(name) ?? textOf(name).then(name === 'vectors' ? bytesOf : jsonOf);
  loaded.set(name, known);
  // Each part was written with the type of its name.
  return known as Promise<CopyParts[N]>;
}

function textOf(name: string): Promise<string> {
  const inline = document.getElementById(`part-${name}`)?.textContent;
  if (inline) return Promise.resolve(inline);
  return new Promise((resolve, reject) => {
    arrivals.set(name, resolve);
    const script = document.createElement('script');
    script.src = `data/${name}.js`;
    script.onerror = () => reject(new RefusedRequest(404, `The file data/${name}.js is missing.`));
    document.head.append(script);
  });
}

/** Reads a part, which is compressed, in letters. */
function unpack(packed: string): Response {
  const stream = new Blob([bytesIn(packed)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream('deflate-raw')));
}

function jsonOf(packed: string): Promise<unknown> {
  return unpack(packed).json();
}

async function bytesOf(packed: string): Promise<Uint8Array> {
  return new Uint8Array(await unpack(packed).arrayBuffer());
}
