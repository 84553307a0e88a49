import type { CallOptions } from './call-context.ts';

/**
 * Runs a call that its caller can cancel until the first commit: from then on it is answered, because an
 * error would say that nothing was written.
 */
export async function untilCommit<R>(
  options: CallOptions,
  work: (own: CallOptions) => Promise<R>,
): Promise<R> {
  const controller = new AbortController();
  const caller = options.signal;
  const cancel = () => controller.abort(caller?.reason);
  const end = () => caller?.removeEventListener('abort', cancel);
  if (caller?.aborted) cancel();
  else caller?.addEventListener('abort', cancel);
  const onCommit: CallOptions['onCommit'] = (made) => {
    end();
    options.onCommit?.(made);
  };
  try {
    return await work({ ...options, signal: controller.signal, onCommit });
  } finally {
    end();
  }
}
