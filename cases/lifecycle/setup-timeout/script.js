import { sleep } from 'k6';
export const options = { setupTimeout: '100ms' };
export function setup() { sleep(5); }
export default function () { console.log('never'); }
