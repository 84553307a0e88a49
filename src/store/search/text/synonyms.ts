import { divided, RelatedStems } from './related-stems.ts';

/** Words that texts about software use for the same thing; each group is one meaning. */
const groups = `
  create make build generate construct new | delete remove drop erase discard
  | clear empty reset flush | get fetch retrieve obtain | find search locate lookup match
  | list array sequence | dictionary dict map mapping hash | error exception failure
  | fail crash break | check test verify validate ensure | convert transform cast translate
  | parse read decode | encode serialize dump | string text | number numeric digit
  | folder directory | show display print | start begin launch run
  | stop end finish terminate kill exit quit | send post transmit | receive accept
  | count number amount quantity | size length | copy clone duplicate
  | join merge combine concatenate concat | split divide separate | sort order
  | blank empty null none missing | equal same identical | column field attribute
  | row record line | image picture photo | modify change edit alter update | add append insert
  | replace substitute swap | wait sleep delay pause | allow permit enable support
  | forbid disallow prohibit reject refuse | save store persist write | first begin initial
  | last final latest end | largest biggest maximum highest max
  | smallest lowest minimum min | fast quick speed performance | slow latency delay
  | concurrent parallel simultaneous | unique distinct | random shuffle sample | average mean
  | login signin authenticate | password credential secret | customer client user
  | bug defect issue problem error | fix repair solve correct | rule policy guideline convention
  | choose select pick | choice decision option | reason rationale motivation why
  | annotation hint | method function procedure routine | argument parameter
  | variable attribute | module package library | release version publish
  | deprecate obsolete remove | compile build | install setup | upgrade update migrate
  | rename move | exist present available | contain include has | return output yield
  | call invoke execute | generate produce | calculate compute
  | plot draw graph chart figure | url link address uri | web http | website page site
  | server host | port socket | request query | response reply answer
  | screen window display | button click | mouse cursor pointer | color colour
  | width height dimension size | angle degree rotation | matrix vector array | zero null
  | loop iterate iteration | repeat retry | timeout expire | cache memoize
  | log logging trace debug | thread process worker | queue stack | tree node
  | parent ancestor | child descendant | path route | encrypt cipher
  | compress zip archive | extract unpack unzip | download fetch | upload send
  | table database | backup copy snapshot | undo revert rollback restore
  | timestamp datetime time date | today now current | hidden private internal
  | public exported | root top | lowercase lower | uppercase upper capitalize
  | whitespace space blank | trim strip | newline linebreak | quote escape | regex pattern`;

const related = new RelatedStems(function* () {
  for (const group of groups.split('|')) for (const word of divided(group)) yield [word, group];
});

/**
 * The stems of the words that mean about the same as a word.
 *
 * @param term the stem of the word.
 */
export function synonymsOf(term: string): Iterable<string> {
  return related.of(term);
}
