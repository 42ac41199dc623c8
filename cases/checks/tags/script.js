import { check } from 'k6';
export default function () { check(1, { one: (v) => v === 1 }, { mine: 'a', number: 5, yes: true }); }
