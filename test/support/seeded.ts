export { seededNumbers as seeded } from '../../src/core/values/seeded-numbers.ts';
