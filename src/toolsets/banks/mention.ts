/**
 * Looks phrases up in a text: as whole words, in any case.
 *
 * @returns whether the text holds a phrase.
 */
export function mentionsIn(text: string): (phrase: string) => boolean {
  const within = text.toLowerCase();
  return (phrase) => {
    const sought = phrase.toLowerCase();
    for (let at = within.indexOf(sought); at >= 0; at = within.indexOf(sought, at + 1)) {
      const around = within.charAt(at - 1) + within.charAt(at + sought.length);
      if (!/[\p{L}\p{N}_]/u.test(around)) return true;
    }
    return false;
  };
}
