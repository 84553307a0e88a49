/** The answer of a tool, as the host passes it on. */
export interface ToolAnswer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** The revision of the protocol between a view and its host. */
const revision = '2026-01-26';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

/** The connection of a view with the program that shows it: JSON-RPC by messages of the window. */
export class Host {
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #onResult: (answer: ToolAnswer) => void;
  #last = 0;

  /** @param onResult receives the answer of the tool that the view belongs to. */
  constructor(onResult: (answer: ToolAnswer) => void) {
    this.#onResult = onResult;
    addEventListener('message', ({ source, data }) => {
      // Only the program that shows the view may speak to it.
      if (source === parent && data?.jsonrpc === '2.0') this.#receive(data);
    });
  }

  /** Greets the host, which then sends the answer of the tool. */
  async connect(): Promise<void> {
    const params = {
      protocolVersion: revision,
      appInfo: { name: 'memory-bank', version: revision },
      appCapabilities: {},
    };
    const { result } = await this.#request('ui/initialize', params);
    applyContext(fieldsOf(fieldsOf(result).hostContext));
    this.#send({ method: 'ui/notifications/initialized', params: {} });
    const report = () => {
      const { scrollWidth: width, scrollHeight: height } = document.documentElement;
      this.#send({ method: 'ui/notifications/size-changed', params: { width, height } });
    };
    new ResizeObserver(report).observe(document.body);
  }

  /**
   * Calls another tool of the server.
   *
   * @throws Error if the tool or the host refuses.
   */
  async call(name: string, args: object): Promise<unknown> {
    const { result, error } = await this.#request('tools/call', { name, arguments: args });
    if (error) throw new Error(error.message ?? 'The host does not allow it.');
    const answer = fieldsOf(result) as ToolAnswer;
    if (answer.isError) throw new Error(answer.content?.[0]?.text ?? 'The tool has failed.');
    return dataOf(answer);
  }

  #receive({ id, method, params = {}, ...rest }: Message): void {
    if (method === undefined && typeof id === 'number') {
      this.#waiting.get(id)?.(rest);
      this.#waiting.delete(id);
    } else if (method === 'ui/notifications/tool-result') this.#onResult(params as ToolAnswer);
    else if (method === 'ui/notifications/host-context-changed') applyContext(params);
    // A request, such as the one before the view is closed.
    else if (id !== undefined) this.#send({ id, result: {} });
  }

  #request(method: string, params: object): Promise<Message> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    // The host is another origin, whose name the view does not know.
    parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }
}

/** Returns the data of an answer: structured, or as the JSON of its text. */
export function dataOf({ content, structuredContent }: ToolAnswer): unknown {
  if (structuredContent !== undefined) return structuredContent;
  try {
    return JSON.parse(content?.[0]?.text ?? '');
  } catch {
    return undefined;
  }
}

/** Returns the fields of an object; none for any other value. */
export function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function applyContext({ theme }: { readonly [name: string]: unknown }): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.style.colorScheme = theme;
}
