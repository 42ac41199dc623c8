export default function () {}
export function handleSummary() {
  return { stdout: 'on the screen\n', stderr: 'on the error stream\n', 'out/report.txt': 'never\n', 'bytes.bin': new Uint8Array([65, 66, 10]).buffer, 'data.json': JSON.stringify({ a: 1 }) };
}
