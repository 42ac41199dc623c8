import { sleep } from 'k6';
export const options = { vus: 1, duration: '20s' };
export default function () { console.log('working'); sleep(15); }
