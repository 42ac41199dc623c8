export default function (): void { const n: number = 1; }
