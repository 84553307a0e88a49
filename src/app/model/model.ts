import type OpenAI from 'openai';
import type { JsonObject } from '../../core/values/json.ts';
import type { ModelMessage } from './model-message.ts';

/** The endpoint of a model: any that speaks OpenAI's protocol, also a local one. */
export interface ModelSettings {
  /** The base of its paths: `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Time limit for an answer, with its tool calls, in milliseconds. */
  readonly timeout: number;
}

/** Default time limit for an answer, in milliseconds. */
const timeout = 120_000;

/**
 * Reads the settings of the model from the environment; undefined if it names none.
 *
 * @param warn receives problems with incomplete or invalid settings.
 */
export function modelSettings(
  env: { readonly [name: string]: string | undefined },
  warn: (message: string) => void,
): ModelSettings | undefined {
  const { MEMORY_BANK_CHAT_URL: url, MEMORY_BANK_CHAT_MODEL: model } = env;
  if (!url && !model) return undefined;
  if (url && model && isWebAddress(url)) {
    return { url, model, key: env.MEMORY_BANK_CHAT_API_KEY, timeout };
  }
  const why = !url
    ? 'MEMORY_BANK_CHAT_URL is not set'
    : !model
      ? 'MEMORY_BANK_CHAT_MODEL is not set'
      : `MEMORY_BANK_CHAT_URL is not an http:// or https:// address: ${url}`;
  warn(`No model is used: ${why}.`);
  return undefined;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Formats memory for the model: with its file name, and escaped so that it cannot end its own block. */
export function asData(value: object): string {
  return `Data from the memory of the project: ${JSON.stringify(value)}`;
}

/** The error of a model that did not answer. */
export class ModelError extends Error {
  /** Whether the time limit was reached; otherwise the model or its endpoint failed. */
  readonly late: boolean;

  constructor(message: string, late: boolean) {
    super(message);
    this.late = late;
  }
}

/** Limit of rounds of tool calls before the model has to answer. */
const maxRounds = 8;

/** A message of the conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A tool for the model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** Receives the arguments as the model wrote them and returns a text for it; never throws. */
  call(args: string): Promise<string>;
}

/** A request to the model. */
export interface Question {
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly signal: AbortSignal;
  /** Receives each piece of the answer; undefined for the whole answer at once. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** A language model behind an endpoint that speaks OpenAI's protocol. */
export class Model {
  /** Its name at the endpoint. */
  readonly name: string;
  readonly #settings: ModelSettings;
  #client: OpenAI | undefined;

  constructor(settings: ModelSettings) {
    this.name = settings.model;
    this.#settings = settings;
  }

  /**
   * Gets an answer of the model, with tool calls up to a limit.
   *
   * @returns a text that is not blank.
   * @throws ModelError if the model or its endpoint fails or takes too long.
   */
  async answer(question: Question): Promise<string> {
    const { timeout } = this.#settings;
    const late = AbortSignal.timeout(timeout);
    try {
      const signal = AbortSignal.any([question.signal, late]);
      return await this.#converse({ ...question, signal });
    } catch (thrown) {
      if (late.aborted) throw new ModelError('The model did not answer in time.', true);
      throw thrown;
    }
  }

  async #converse({ messages, tools, signal, onText }: Question): Promise<string> {
    const talk: OpenAI.ChatCompletionMessageParam[] = [...messages];
    const offered = tools.map(({ name, description, parameters }) => ({
      type: 'function' as const,
      function: { name, description, parameters },
    }));
    for (let round = 1; ; round += 1) {
      const message = await this.#complete(
        {
          model: this.name,
          messages: talk,
          // Some endpoints refuse an empty list.
          ...(offered.length > 0 && {
            tools: offered,
            tool_choice: round < maxRounds ? 'auto' : 'none',
          }),
        },
        signal,
        onText,
      );
      const { content, tool_calls: calls } = message;
      if (calls.length === 0) {
        if (!content?.trim()) throw failed('The model said nothing.');
        return content;
      }
      // Text next to a tool call may depend on the result of the call.
      if (round === maxRounds) throw failed('The model only called tools.');
      talk.push(message);
      for (const call of calls) {
        const result = await use(tools, call.function);
        talk.push({ role: 'tool', tool_call_id: call.id, content: result });
      }
    }
  }

  async #complete(
    body: OpenAI.ChatCompletionCreateParamsNonStreaming,
    signal: AbortSignal,
    onText: Question['onText'],
  ): Promise<ModelMessage> {
    const { completions } = (await this.#connect()).chat;
    const complete = () => {
      if (!onText) return completions.create(body, { signal });
      const stream = completions.stream({ ...body, stream: true }, { signal });
      return stream.on('content', onText).finalChatCompletion();
    };
    // Loaded here, because every start loads this file, and few need zod.
    const { modelMessage } = await import('./model-message.ts');
    try {
      return modelMessage.parse((await complete()).choices[0]?.message);
    } catch (thrown) {
      throw await refusal(thrown);
    }
  }

  async #connect(): Promise<OpenAI> {
    const { default: OpenAI } = await import('openai');
    this.#client ??= new OpenAI({
      baseURL: this.#settings.url,
      apiKey: this.#settings.key ?? 'none',
      timeout: this.#settings.timeout,
      maxRetries: 1,
      logLevel: 'off',
      // Do not send OPENAI_ORG_ID and the like to this endpoint.
      organization: null,
      project: null,
      webhookSecret: null,
    });
    return this.#client;
  }
}

async function use(
  tools: readonly ModelTool[],
  { name, arguments: args }: { readonly name: string; readonly arguments: string },
): Promise<string> {
  const tool = tools.find((one) => one.name === name);
  return tool ? tool.call(args) : `There is no tool ${JSON.stringify(name)}.`;
}

/**
 * Describes the failure of an endpoint for callers, without its own words, which may contain
 * the key.
 */
async function refusal(thrown: unknown): Promise<ModelError> {
  const { APIConnectionError, APIError } = await import('openai');
  const status = thrown instanceof APIError ? thrown.status : undefined;
  const answered = `answered ${status ?? 'something that is not a message'}`;
  const how = thrown instanceof APIConnectionError ? 'cannot be reached' : answered;
  return failed(`The endpoint of the model ${how}.`);
}

function failed(message: string): ModelError {
  return new ModelError(message, false);
}
