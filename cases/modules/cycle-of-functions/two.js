import { one } from './one.js';
export function two() { return 'two of ' + one(); }
