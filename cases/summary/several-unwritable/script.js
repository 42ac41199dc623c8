export default function () {}
export function handleSummary() { return { 'nowhere/a': 'a', stdout: 'shown\n', 'nowhere/b': 'b' }; }
