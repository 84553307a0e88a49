/**
 * The address of a part of the memory: a record, or a section of a markdown record after `#`, by its
 * heading: `decisionLog.md#Use git - 2026-01-31`.
 */
export interface RecordAddress {
  readonly path: string;
  readonly section?: string | undefined;
}

/** Splits an address at the `#` after the name of a markdown file. */
export function parseAddress(text: string): RecordAddress {
  const [, path, section] = /^(.*?\.md)#(.*\S.*)$/s.exec(text) ?? [];
  return path === undefined || section === undefined ? { path: text } : { path, section };
}

/** Writes an address. */
export function formatAddress({ path, section }: RecordAddress): string {
  return section === undefined ? path : `${path}#${section}`;
}
