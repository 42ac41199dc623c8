import { check } from 'k6';
export default function () { console.log(check(1, { later: async () => false })); }
