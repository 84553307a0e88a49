import type { RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallMade } from '../../../app/session/call-report.ts';
import type { ServedProject } from '../auth/projects.ts';

/** The upper bounds of the durations that are counted together, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The methods that have a count of their own; requests with any other one are counted together. */
const methods = ['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS'];

/** A project with what it has open. */
interface Measured {
  readonly project: ServedProject;
  /** The number of its MCP sessions. */
  sessions(): number;
}

/**
 * The counts of a server in the format of Prometheus.
 *
 * Every label has a bounded set of values: none comes from a request as it is.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #underWay: Gauge;
  readonly #calls: Histogram<'project' | 'call' | 'outcome'>;
  readonly #commits: Counter<'project'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'memory_bank_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers,
    });
    this.#underWay = new Gauge({
      name: 'memory_bank_http_requests_in_progress',
      help: 'Requests whose answer is not complete, streams included.',
      registers,
    });
    this.#calls = new Histogram({
      name: 'memory_bank_call_duration_seconds',
      help: 'Time of a tool or of another operation on the memory, waits included.',
      labelNames: ['project', 'call', 'outcome'],
      buckets,
      registers,
    });
    this.#commits = new Counter({
      name: 'memory_bank_commits_total',
      help: 'Commits made for callers.',
      labelNames: ['project'],
      registers,
    });
  }

  /** The media type of the text. */
  get type(): string {
    return this.#registry.contentType;
  }

  /** Returns all counts. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts each request when its answer has ended. */
  readonly countRequest: RequestHandler = ({ method }, response, next) => {
    const began = performance.now();
    this.#underWay.inc();
    response.once('close', () => {
      this.#underWay.dec();
      const labels = {
        method: methods.includes(method) ? method : 'other',
        route: response.locals.route ?? 'other',
        // A client that disconnects gets no status.
        status: response.headersSent ? response.statusCode : 'none',
      };
      this.#requests.observe(labels, (performance.now() - began) / 1000);
    });
    next();
  };

  /** Counts the calls and commits of projects, and what they have open. */
  follow(measured: readonly Measured[]): void {
    for (const { project } of measured) {
      const name = project.name ?? '';
      // Present from the start, so that the first commit is an increase.
      this.#commits.inc({ project: name }, 0);
      project.app.observe(({ label, outcome, milliseconds, commits }: CallMade) => {
        this.#calls.observe({ project: name, call: label, outcome }, milliseconds / 1000);
        if (commits > 0) this.#commits.inc({ project: name }, commits);
      });
    }
    new Gauge({
      name: 'memory_bank_mcp_sessions',
      help: 'Open MCP sessions of the revisions before 2026-07-28.',
      labelNames: ['project'],
      registers: [this.#registry],
      collect() {
        for (const { project, sessions } of measured) {
          this.set({ project: project.name ?? '' }, sessions());
        }
      },
    });
  }
}
