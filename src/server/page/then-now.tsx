import { useState } from 'preact/hooks';
import { Diff, Scrolling } from './parts.tsx';

/** A line of code, with its number if the difference says it. */
interface CodeLine {
  readonly number: number;
  readonly text: string;
}

/** A line as it was next to the line as it is; one of them is missing where a line was added or removed. */
interface Row {
  readonly old: CodeLine | undefined;
  readonly now: CodeLine | undefined;
  readonly isChanged: boolean;
}

/** The forms of a difference; the browser remembers none, because most are a few lines. */
type Form = 'sides' | 'unified';

/** Code as it was and as it is, side by side or unified. */
export function ThenNow({ diff, label }: { diff: string; label: string }) {
  const [form, setForm] = useState<Form>('sides');
  // The server shortens a long difference, and says by how much.
  const cut = diff.split('\n').find((line) => line.startsWith('…'));
  const button = (name: Form, text: string) => (
    <button type="button" aria-pressed={form === name} onClick={() => setForm(name)}>
      {text}
    </button>
  );
  return (
    <>
      <p class="row">
        {button('sides', 'Side by side')}
        {button('unified', 'Unified')}
      </p>
      {form === 'unified' ? <Diff text={diff} /> : <Sides diff={diff} label={label} />}
      {form === 'sides' && cut !== undefined && <p class="faint">{cut}</p>}
    </>
  );
}

function Sides({ diff, label }: { diff: string; label: string }) {
  const rows = rowsOf(diff);
  const cell = (line: CodeLine | undefined, kind: string) => (
    <>
      <td class="faint">{line?.number}</td>
      <td class={line ? kind : ''}>
        <code>{line?.text}</code>
      </td>
    </>
  );
  return (
    <Scrolling label={`${label}, then and now`}>
      <table class="sides">
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              then
            </th>
            <th scope="col" colSpan={2}>
              now
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ old, now, isChanged }, i) => (
            <tr key={i}>
              {cell(old, isChanged ? 'removed' : '')}
              {cell(now, isChanged ? 'added' : '')}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

/** Pairs the removed lines of a unified difference with the lines that were added in their place. */
function rowsOf(diff: string): readonly Row[] {
  const rows: Row[] = [];
  let [before, after] = [1, 1];
  let [removed, added]: [CodeLine[], CodeLine[]] = [[], []];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      rows.push({ old: removed[i], now: added[i], isChanged: true });
    }
    [removed, added] = [[], []];
  };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [, from, to] = /^@@ -(\d+)\S* \+(\d+)/.exec(line) ?? [];
    const text = line.slice(1);
    if (from !== undefined && to !== undefined) {
      flush();
      [before, after] = [Number(from), Number(to)];
    } else if (line.startsWith('-')) removed.push({ number: before++, text });
    else if (line.startsWith('+')) added.push({ number: after++, text });
    else if (line.startsWith(' ')) {
      flush();
      const old = { number: before++, text };
      rows.push({ old, now: { number: after++, text }, isChanged: false });
    }
  }
  flush();
  return rows;
}
