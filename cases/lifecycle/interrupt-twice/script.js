import { sleep } from 'k6';
export const options = { duration: '9s' };
export default function () { console.log('working'); sleep(9); }
export function teardown() { sleep(9); }
