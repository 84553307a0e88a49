import { analyse } from './analyser.ts';

/** Words that the work on any project needs, and those of any conversation. */
const english = `
  able accept access account across action active actual add additional address against allow alone already
  alternative always amount another answer anybody anyone anything anyway api app appear application apply
  approach appropriate area argument around array article ask assign async attempt author automatic
  available avoid await away back bad base basic become begin behavior best better big bit block blue body
  book boolean bottom box branch break bring browser bug build button buy call callback card care case
  catch cause center certain chance change character chart chat check child choice choose city class clean
  clear cli click client close code collect color colour column com come command comment commit common
  community company compare compile complete computer condition config configure connect consider console
  const contain content context continue control convert copy correct cost count country couple course
  cover crash create css current custom customer cut daily dark data date day deal debug decide decision
  default define delete department depend deploy describe description design desktop detail dev develop
  device dialog differ difference direct directory disable discuss disk display document dollar double draw
  drive drop dry duplicate early easy edit effect either element else email empty enable end engine enough
  ensure enter entire entry environment equal error even event every everyone everything exact example
  except exception exist expect experience explain export express extra fail failure false family fast
  favorite feature feedback feel fetch few field figure file fill filter final find fine finish first fit
  fix flag flow focus folder follow font footer force form format forward found free fresh friend front
  full fun function future game general generate git github global good grant great green grey group grow
  guest guide hand handle happen hard head header hello help hide high highlight history hit hold holiday
  home hope host hour house html http https huge icon idea ignore image implement import improve include
  increase index info inform information initial inline input insert inside install instance instead
  instruct int integrate intend interest internal introduce invalid invite issue item java javascript job
  join js json keep key keyboard know label language laptop large last late later latest launch lead learn
  least leave left length less letter level library light like likely limit line link linux list little
  live load local location log login logo long longer look loop lose loss lot love low mail main maintain
  manage manual map mark master match matter maximum md mean measure media meet member memory mention menu
  merge message method middle mind minimum minor minute miss mobile mode model modern modify module moment
  money month morning move multiple music name near necessary network new news next nice night node none
  normal note nothing notice notify npm null number object offer office old online open operate operation
  opinion optimize option order org organize original otherwise output outside overview package pad page
  paint pair panel paper parent part pass password past paste path pattern pay people per perform
  performance period person phone photo photograph picture piece place plain plan platform play plug point
  port position possible post prefer prepare present press prevent previous price print private probably
  problem process produce product program project promise proper property provide public publish pull
  purpose push put python quality query question quick quiet quit random range rate raw reach read readme
  ready real reason receive recent recommend record red reduce refactor refer regular relate release reload
  remain remember remind remove rename repeat replace reply report repository request require reset
  resource respond response rest result return revert review rewrite right root round row rule run safe
  sample save say scale schedule scope score screen script scroll search second section see seem select
  send sense separate series server service session set setting setup several shape share shop short show
  side sign similar simple single site situation size skip sleep slow small smooth social software solution
  solve someone something sort sound source space special specific specify speed spell spend split square
  stack standard star start state status stay stderr stdout step still stop store story straight string
  structure study style submit subtle success suggest summary super support sure switch symbol sync system
  table tag take talk target task teach team technical tell temporary term terminal test text thank thing
  think third three throw ticket time title today together tomorrow tool top total touch track train
  transfer translate tree trigger true trust try ts turn tutorial two type typescript typical undefined
  understand undo unit unknown unless unused update upgrade upload url usage user usual util valid validate
  value var variable various verify version video view visible visit visual wait walk wall warn warning
  watch weather web website week weekend welcome well whatever whether white whole wide width window wish
  word work worker workflow world worry write wrong www year yellow yes yesterday yet zero`;

/** The most frequent short words of German, French, Spanish, Portuguese and Italian. */
const others = `
  aber ahora al algo als antes ao aos au auch auf aus aux avec bei bitte ce ces cette che chi ci col comme
  como con cual cuando da dal dans das dass de del della delle dem den der des desde di die doch donde dos
  du ein eine einen einer el ella elle em en entre es essa esse est esta este esto et faire fais für gli ha
  hat hay haz ich il io isso ist ja je já kann kein la las le les leur lo los ma machen mais man mas meu mi
  mir mit moi muy más na nach nas ne nel neu nicht noch non nos nous nueva nuevo nun não oder os ou où par
  para pas pela pelo perché pero più plus por pour pourquoi puede quando que questo qui qué sa schon se
  sein sem ser ses seu si sich sie sin sind sobre son sono su sua sur sus são también também tem tiene todo
  todos tu um uma un una und une uno uns você von vor vous warum wenn wie wir wird ya zu zum zur`;

let stems: ReadonlySet<string> | undefined;

/** Whether any project uses a word, so that it says little about what a text is about. */
export function isEveryday(term: string): boolean {
  stems ??= stemsOf(`${english} ${others}`);
  return stems.has(term);
}

function stemsOf(words: string): ReadonlySet<string> {
  const found = new Set<string>();
  analyse(words, ({ term }) => found.add(term));
  return found;
}
