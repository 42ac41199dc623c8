interface Unused {
  a: number;
}

export default function (): void {
  throw new Error('in typescript');
}
