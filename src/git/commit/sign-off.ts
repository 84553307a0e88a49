import type { Signature } from '../objects/object.ts';

/** Adds `Signed-off-by` to a message as `git commit --signoff` does, unless it is there. */
export function signedOff(message: string, { name, email }: Signature): string {
  const line = `Signed-off-by: ${name} <${email}>`;
  const text = message.trimEnd();
  const paragraphs = text.split(/\n(?:[ \t]*\n)+/);
  const last = paragraphs.at(-1)?.split('\n') ?? [];
  if (last.includes(line)) return message;
  // A subject alone can look like a trailer.
  const hasTrailers = paragraphs.length > 1 && last.every((one) => /^[A-Za-z][\w-]*: /.test(one));
  return `${text}${hasTrailers ? '\n' : '\n\n'}${line}\n`;
}
