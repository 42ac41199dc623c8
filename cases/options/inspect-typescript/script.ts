import type { Options } from 'k6/options';
enum Size { Small = 1, Large = 10 }
export const options: Options = { vus: Size.Large, duration: '5s' as string, thresholds: { checks: ['rate==1'] } satisfies Record<string, string[]> };
export default (): void => {};
