export {
  endTree,
  programToStart,
  shellEnvironment,
  windowsProgram,
} from '../../git/repository/program-start.ts';
