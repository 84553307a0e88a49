/** The folders and variables that decide where clients keep their configuration. */
export interface Surroundings {
  readonly root: string;
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly platform: NodeJS.Platform;
}
