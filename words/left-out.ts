import { stem } from '../src/store/search/text/analyser.ts';

/** Words that nobody wants to see as a neighbour of a word about software. */
const words = `
  adult anal anus ass bastard bitch blowjob boob breast casino cock crap cum cunt damn dick dildo
  erotic erotica escort fetish fuck fucked fucker fucking gambling hentai hitler horny incest lolita
  masturbate nazi nsfw nude nudity orgasm penis piss poker porn porno pornhub pornography pussy rape
  sex sexual sexy shit shitty slut suicide tits vagina viagra whore xhamster xnxx xvideos xxx`;

const stems: ReadonlySet<string> = new Set(words.trim().split(/\s+/).map(stem));

/** Whether a stem does not belong in the table. */
export function isLeftOut(term: string): boolean {
  return stems.has(term);
}
