import { setFlagsFromString } from 'node:v8';

/**
 * Has garbage collected once it is a quarter of what is in use.
 *
 * By default V8 lets it grow to several times that. A server that stands beside an editor all day
 * takes less memory this way, and answers as quickly.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=25');
  // What is new may take at once what it would be given step by step: nothing is copied at each step.
  setFlagsFromString('--semi-space-growth-factor=16');
}
