export default function () {}
export function handleSummary() { return { stdout: 12 }; }
