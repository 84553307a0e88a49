import { analyse } from './analyser.ts';

/** Words that the work on any project needs, and those of any conversation. */
const english = `
  able accept access account across action active actual add additional address against allow alone already
  alternative always amount another answer anybody anyone anything anyway api app appear application apply
  approach appropriate area argument around array article ask assign async attempt author automatic
  available avoid await away back bad base basic become begin behavior best better big bit block blue body
  book boolean bottom box branch break bring browser bug build button buy call callback card care case
  catch cause center certain chance change character chart chat check child choice choose city class clean
  clear cli click client close code collect color colour column com come command comment commit common
  community company compare compile complete computer condition config configure connect consider console
  const contain content context continue control convert copy correct cost count country couple course
  cover crash create css current custom customer cut daily dark data date day deal debug decide decision
  default define delete department depend deploy describe description design desktop detail dev develop
  device dialog differ difference direct directory disable discuss disk display document dollar double draw
  drive drop dry duplicate early easy edit effect either element else email empty enable end engine enough
  ensure enter entire entry environment equal error even event every everyone everything exact example
  except exception exist expect experience explain export express extra fail failure false family fast
  favorite feature feedback feel fetch few field figure file fill filter final find fine finish first fit
  fix flag flow focus folder follow font footer force form format forward found free fresh friend front
  full fun function future game general generate git github global good grant great green grey group grow
  guest guide hand handle happen hard head header hello help hide high highlight history hit hold holiday
  home hope host hour house html http https huge icon idea ignore image implement import improve include
  increase index info inform information initial inline input insert inside install instance instead
  instruct int integrate intend interest internal introduce invalid invite issue item java javascript job
  join js json keep key keyboard know label language laptop large last late later latest launch lead learn
  least leave left length less letter level library light like likely limit line link linux list little
  live load local location log login logo long longer look loop lose loss lot love low mail main maintain
  manage manual map mark master match matter maximum md mean measure media meet member memory mention menu
  merge message method middle mind minimum minor minute miss mobile mode model modern modify module moment
  money month morning move multiple music name near necessary network new news next nice night node none
  normal note nothing notice notify npm null number object offer office old online open operate operation
  opinion optimize option order org organize original otherwise output outside overview package pad page
  paint pair panel paper parent part pass password past paste path pattern pay people per perform
  performance period person phone photo photograph picture piece place plain plan platform play plug point
  port position possible post prefer prepare present press prevent previous price print private probably
  problem process produce product program project promise proper property provide public publish pull
  purpose push put python quality query question quick quiet quit random range rate raw reach read readme
  ready real reason receive recent recommend record red reduce refactor refer regular relate release reload
  remain remember remind remove rename repeat replace reply report repository request require reset
  resource respond response rest result return revert review rewrite right root round row rule run safe
  sample save say scale schedule scope score screen script scroll search second section see seem select
  send sense separate series server service session set setting setup several shape share shop short show
  side sign similar simple single site situation size skip sleep slow small smooth social software solution
  solve someone something sort sound source space special specific specify speed spell spend split square
  stack standard star start state status stay stderr stdout step still stop store story straight string
  structure study style submit subtle success suggest summary super support sure switch symbol sync system
  table tag take talk target task teach team technical tell temporary term terminal test text thank thing
  think third three throw ticket time title today together tomorrow tool top total touch track train
  transfer translate tree trigger true trust try ts turn tutorial two type typescript typical undefined
  understand undo unit unknown unless unused update upgrade upload url usage user usual util valid validate
  value var variable various verify version video view visible visit visual wait walk wall warn warning
  watch weather web website week weekend welcome well whatever whether white whole wide width window wish
  word work worker workflow world worry write wrong www year yellow yes yesterday yet zero`;

/** The most frequent short words of German, French, Spanish, Portuguese and Italian. */
const others = `
  aber ahora al algo als antes ao aos au auch auf aus aux avec bei bitte ce ces cette che chi ci col comme
  como con cual cuando da dal dans das dass de del della delle dem den der des desde di die doch donde dos
  du ein eine einen einer el ella elle em en entre es essa esse est esta este esto et faire fais für gli ha
  hat hay haz ich il io isso ist ja je já kann kein la las le les leur lo los ma machen mais man mas meu mi
  mir mit moi muy más na nach nas ne nel neu nicht noch non nos nous nueva nuevo nun não oder os ou où par
  para pas pela pelo perché pero più plus por pour pourquoi puede quando que questo qui qué sa schon se
  sein sem ser ses seu si sich sie sin sind sobre son sono su sua sur sus são también também tem tiene todo
  todos tu um uma un una und une uno uns você von vor vous warum wenn wie wir wird ya zu zum zur`;

/** Words of two or more letters of scripts without spaces that any project and any conversation has. */
const unspaced = `
  一下 一个 一些 一样 一次 一步 一行 一点 一遍 上面 下面 不是 不要 不能 东西 两个 为了 为什么 之前 之后 也可以 什么
  今天 介绍 代码 任务 会议 作用 使用 例子 修复 修改 做一个 停止 全部 关于 其他 内容 再次 再试 写一个 几个 函数 分析
  分钟 列出 列表 创建 删掉 删除 别的 到底 前面 功能 加上 包含 十分 单词 原因 参数 发现 变成 变量 可以 可能 号码 名字
  名称 后面 吗 启动 告诉 命令 哪个 哪些 哪里 哪种 喜欢 回答 因为 图片 图表 团队 在哪里 多少 大小 天气 头像 如何 如果
  好的 好看 字段 完成 定义 实现 实际 容易 对象 导出 导入 就是 左边 工作 已经 帮助 帮我 应该 开始 开发 当前 形状 怎么
  怎样 总结 您好 情况 感觉 应用 成功 或者 手动 打开 打印 执行 找到 技术 报告 按钮 换成 排序 描述 推荐 提交 提示 搜索
  放在 数字 数据 整个 文件 文件夹 文字 文本 新的 方式 方法 日期 时候 时间 明天 是不是 是否 显示 更多 更新 最后 最新
  有没有 服务 朋友 本地 来自 构建 查看 标题 样式 格式 检查 模块 次数 正常 步骤 每个 比较 没有 注意 测试 添加 清楚 源码
  漫画 点击 然后 版本 现在 理解 生成 用户 由于 画面 界面 留言 目前 目录 直接 相关 看看 知道 确定 程序 空白 立即 等等
  简单 类型 系统 结果 继续 编写 缓慢 网站 网页 翻译 联系 背景 自动 自己 节点 行数 要不要 解决 解释 警告 计算 记录 设置
  设计 识别 试试 说明 请问 读取 谢谢 调用 资料 起来 输入 输出 返回 还是 这一行 这个 这些 这样 这段 这里 运行 进行 选择
  通过 那个 部分 里面 重新 错误 问题 需要 非常 项目 颜色 顺序 默认 全量
  一度 一覧 作成 使用 例外 修正 値 内容 再度 出力 削除 動作 名前 問題 変数 変更 実行 実装 対応 必要 意味 成功 戻す 手順
  探して 教えて 方法 日付 時間 最後 最初 最新 案内 検索 機能 次 比較 注意 理由 画像 画面 画像 直して 結果 自分 色 行 表示
  要約 設定 説明 読む 説明文 質問 追加 送信 選択 開始 関数 順番 項目 コード ファイル テスト ボタン エラー バグ ページ
  アプリ データ サイト ウェブ メール メッセージ プロジェクト ユーザー チーム リスト タイトル ありがとう お願い
  가능 개발 결과 계속 고쳐 기능 내용 다시 다음 단계 때문 만들 모두 무슨 문서 문제 방법 버튼 변경 보여 빌드 사용 삭제 색상
  생성 설명 설정 수정 시간 실행 알려 어디 어떤 어떻게 없는 에러 오늘 오류 왜 이것 이름 있는 작성 작업 저장 정리 정말 주세요
  지금 처음 추가 코드 테스트 파일 페이지 프로젝트 필요 하나 하는 하세요 한번 함수 합니다 해줘 해주세요 확인 화면 감사`;

let stems: ReadonlySet<string> | undefined;
let pairs: ReadonlySet<string> | undefined;

/** Whether any project uses a word, so that it says little about what a text is about. */
export function isEveryday(term: string): boolean {
  stems ??= stemsOf(`${english} ${others}`);
  return stems.has(term);
}

/** The same for two letters of a script that puts no space between words. */
export function isEverydayPair(pair: string): boolean {
  pairs ??= pairsOf(unspaced);
  return pairs.has(pair);
}

function pairsOf(words: string): ReadonlySet<string> {
  const found = words
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const letters = [...word];
      return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
    });
  return new Set(found);
}

function stemsOf(words: string): ReadonlySet<string> {
  const found = new Set<string>();
  analyse(words, ({ term }) => found.add(term));
  return found;
}
