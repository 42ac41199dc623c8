import { sleep } from 'k6';
export const options = { stages: [{ duration: '300ms', target: 2 }, { duration: '300ms', target: 0 }, { duration: '30s', target: 0 }] };
export default function () { sleep(0.05); }
