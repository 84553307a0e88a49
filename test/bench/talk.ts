import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabelledSet } from './labelled.ts';

/** One turn of a conversation of LoCoMo. */
interface Turn {
  readonly dia_id: string;
  readonly speaker: string;
  readonly text: string;
  /** Says what a picture shows. */
  readonly blip_caption?: string;
}

interface TalkQuestion {
  readonly question: string;
  readonly evidence?: readonly string[];
  readonly category: number;
}

interface Conversation {
  readonly qa: readonly TalkQuestion[];
  readonly [session: string]: unknown;
}

/** The category of questions that no turn answers. */
const unanswerable = 5;
const sessionName = /^session_\d+$/;

/**
 * Reads conversations of two people, and questions about them with the turns that answer them.
 *
 * @param folder the JSON files of `data/locomo10.zip` of the repository snap-research/locomo.
 */
export function talkSets(folder: string): LabelledSet[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => {
    const talk: Conversation = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const sessions = Object.keys(talk).filter((key) => sessionName.test(key));
    const turns = sessions.sort().flatMap((key) => talk[key] as readonly Turn[]);
    const documents = turns.map(({ dia_id, speaker, text, blip_caption }) => {
      const body = blip_caption === undefined ? text : `${text} [${blip_caption}]`;
      return { id: dia_id, fields: { title: speaker, body } };
    });
    const ids = new Set(documents.map(({ id }) => id));
    const questions = talk.qa.flatMap(({ question, evidence = [], category }) => {
      const answers = evidence.filter((id) => ids.has(id));
      if (category === unanswerable || answers.length === 0) return [];
      return [{ query: question, grades: new Map(answers.map((id) => [id, 1])) }];
    });
    return { title: name, documents, questions };
  });
}
