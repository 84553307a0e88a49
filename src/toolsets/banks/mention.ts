/** Returns a function that reports whether the text contains a phrase as whole words, in any case. */
export function mentionsIn(text: string): (phrase: string) => boolean {
  const lowerText = text.toLowerCase();
  return (phrase) => {
    const wanted = phrase.toLowerCase();
    for (let at = lowerText.indexOf(wanted); at >= 0; at = lowerText.indexOf(wanted, at + 1)) {
      const around = lowerText.charAt(at - 1) + lowerText.charAt(at + wanted.length);
      if (!/[\p{L}\p{N}_]/u.test(around)) return true;
    }
    return false;
  };
}
