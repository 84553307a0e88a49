import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch, diffArrays, structuredPatch } from 'diff';
