import { answerBy } from '../page/data.ts';
import { answerFromCopy } from './copy-answers.ts';

// Before the page, which asks at once.
answerBy(answerFromCopy);
void import('../page/page.tsx');
