import { randomSeed } from 'k6';
export const options = { vus: 1, iterations: 2 };
export default function () { randomSeed(42); console.log(Math.random() === Math.random()); randomSeed(42); const a = Math.random(); randomSeed(42); console.log(a === Math.random(), a >= 0 && a < 1); }
