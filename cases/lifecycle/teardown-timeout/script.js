import { sleep } from 'k6';
export const options = { teardownTimeout: '100ms' };
export default function () {}
export function teardown() { sleep(5); }
