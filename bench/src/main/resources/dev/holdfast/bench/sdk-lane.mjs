// Turns of the official SDK, streaming input, on the agent given. Reads "SESSIONS TURNS" a line; answers one JSON line.
//   node sdk-lane.mjs SDK_MODULE AGENT DIRECTORY
import { createInterface } from 'node:readline';
const [module, agent, directory] = process.argv.slice(2);
const { query } = await import(module);

class Session {
  constructor() {
    this.waiting = [];
    this.wake = null;
    this.turns = query({
      prompt: this.input(),
      options: {
        pathToClaudeCodeExecutable: agent,
        cwd: directory,
        env: { PATH: '/usr/bin:/bin', HOME: directory },
        settingSources: [],
      },
    })[Symbol.asyncIterator]();
  }

  async *input() {
    while (true) {
      while (this.waiting.length > 0) yield this.waiting.shift();
      await new Promise((resolve) => { this.wake = resolve; });
    }
  }

  async turn(i) {
    this.waiting.push({
      type: 'user',
      parent_tool_use_id: null,
      message: { role: 'user', content: [
        { type: 'text', text: `turn ${i} of a benchmark` }, { type: 'text', text: '(host)' }] },
    });
    if (this.wake) { const wake = this.wake; this.wake = null; wake(); }
    while (true) {
      const { value, done } = await this.turns.next();
      if (done) throw new Error('the agent has ended');
      if (value.type === 'result') {
        if (value.is_error) throw new Error(JSON.stringify(value));
        return;
      }
    }
  }
}

const sessions = [];
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const [count, turns] = line.split(' ').map(Number);
  while (sessions.length < count) {
    const session = new Session();
    await session.turn(0);
    sessions.push(session);
  }
  const cpu = process.cpuUsage();
  const began = process.hrtime.bigint();
  const nanos = [];
  await Promise.all(sessions.slice(0, count).map(async (session) => {
    for (let i = 0; i < turns; i++) {
      const turn = process.hrtime.bigint();
      await session.turn(i);
      nanos.push(Number(process.hrtime.bigint() - turn));
    }
  }));
  const elapsed = Number(process.hrtime.bigint() - began);
  const used = process.cpuUsage(cpu);
  process.stdout.write(JSON.stringify({ elapsed, cpu: (used.user + used.system) * 1000, nanos }) + '\n');
}
process.stdout.write("", () => process.exit(0));
