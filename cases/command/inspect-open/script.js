import { SharedArray } from 'k6/data';
import { Trend } from 'k6/metrics';
const rows = new SharedArray('rows', () => JSON.parse(open('rows.json')));
new Trend('own');
export const options = { iterations: rows.length };
export default function () {}
