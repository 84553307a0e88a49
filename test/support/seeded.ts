export { seededNumbers as seeded } from '../../src/core/seeded-numbers.ts';
