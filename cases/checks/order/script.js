import { check } from 'k6';
export const options = { iterations: 2, vus: 1 };
export default function () { check(__ITER, { zebra: true, apple: (v) => v === 1, 'Ünïcode ✓': true }); }
