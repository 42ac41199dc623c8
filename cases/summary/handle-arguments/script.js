export default function () {}
export function handleSummary() { return { stdout: 5, stderr: null, 'a.txt': true, 'b.txt': { a: 1 }, 'c.txt': new Uint8Array([65, 66]).buffer, 'd.txt': '' }; }
