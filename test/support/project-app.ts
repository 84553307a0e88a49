import { App } from '../../src/app/app.ts';
import { newFolder } from './process.ts';

/** The app of a project, for a user without settings and global banks. */
export function projectApp(root: string): App {
  return new App({
    place: { flag: root, env: {}, cwd: root, home: newFolder() },
    homeFolder: newFolder(),
    durability: 'relaxed',
    log: () => {},
  });
}
