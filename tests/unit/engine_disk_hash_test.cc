// When and what the engine's disk layer hashes, over a disk whose every answer the test gives.
#include <gtest/gtest.h>

#include <deque>
#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/peer_request.hpp>
#include <libtorrent/storage_defs.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto/digest.h"
#include "client/engine/flushed_disk.h"
#include "client/engine/piece_hasher.h"
#include "client/engine/piece_memory.h"
#include "common/rng.h"

namespace gridtorrent::client::engine {
namespace {

constexpr int kBlock = 16 * 1024;
constexpr int kPiece = 4 * kBlock;
constexpr int kLastPiece = kBlock + 5;
const std::string kDiskHash(20, 'd');

std::string random_piece(std::size_t size, std::uint64_t seed) {
  SeededRng rng(seed);
  std::string bytes(size, 0);
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  return bytes;
}

std::string sha1_of(const std::string& bytes) {
  const auto digest = crypto::sha1({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return {digest.begin(), digest.end()};
}

lt::storage_error no_space() {
  return lt::storage_error(lt::error_code(boost::system::errc::no_space_on_device, boost::system::generic_category()));
}

/// Keeps every question until the test answers it.
struct AskedDisk final : lt::disk_interface {
  using Written = std::function<void(const lt::storage_error&)>;
  using Hashed = std::function<void(lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error&)>;
  struct Hash {
    lt::piece_index_t piece;
    Hashed done;
  };
  std::deque<Written> writes;
  std::deque<Hash> hashes;
  std::deque<std::function<void(lt::piece_index_t)>> clears;
  std::vector<lt::storage_index_t> removed;

  lt::storage_holder new_torrent(const lt::storage_params&, const std::shared_ptr<void>&) override {
    return {lt::storage_index_t(0), *this};  // the same index again and again, as libtorrent does after a removal
  }
  void remove_torrent(lt::storage_index_t storage) override { removed.push_back(storage); }
  bool async_write(lt::storage_index_t, const lt::peer_request&, const char*, std::shared_ptr<lt::disk_observer>,
                   Written handler, lt::disk_job_flags_t) override {
    writes.push_back(std::move(handler));
    return false;
  }
  void async_hash(lt::storage_index_t, lt::piece_index_t piece, lt::span<lt::sha256_hash>, lt::disk_job_flags_t,
                  Hashed handler) override {
    hashes.push_back({piece, std::move(handler)});
  }
  void async_clear_piece(lt::storage_index_t, lt::piece_index_t,
                         std::function<void(lt::piece_index_t)> handler) override {
    clears.push_back(std::move(handler));
  }
  void async_stop_torrent(lt::storage_index_t, std::function<void()> handler) override {
    if (handler) handler();
  }
  // What the tests do not use.
  void async_read(lt::storage_index_t, const lt::peer_request&,
                  std::function<void(lt::disk_buffer_holder, const lt::storage_error&)>,
                  lt::disk_job_flags_t) override {}
  void async_hash2(lt::storage_index_t, lt::piece_index_t, int, lt::disk_job_flags_t,
                   std::function<void(lt::piece_index_t, const lt::sha256_hash&, const lt::storage_error&)>) override {}
  void async_move_storage(lt::storage_index_t, std::string, lt::move_flags_t,
                          std::function<void(lt::status_t, const std::string&, const lt::storage_error&)>) override {}
  void async_release_files(lt::storage_index_t, std::function<void()>) override {}
  void async_check_files(lt::storage_index_t, const lt::add_torrent_params*,
                         lt::aux::vector<std::string, lt::file_index_t>,
                         std::function<void(lt::status_t, const lt::storage_error&)>) override {}
  void async_rename_file(lt::storage_index_t, lt::file_index_t, std::string,
                         std::function<void(const std::string&, lt::file_index_t, const lt::storage_error&)>) override {
  }
  void async_delete_files(lt::storage_index_t, lt::remove_flags_t,
                          std::function<void(const lt::storage_error&)>) override {}
  void async_set_file_priority(
      lt::storage_index_t, lt::aux::vector<lt::download_priority_t, lt::file_index_t>,
      std::function<void(const lt::storage_error&, lt::aux::vector<lt::download_priority_t, lt::file_index_t>)>)
      override {}
  void update_stats_counters(lt::counters&) const override {}
  std::vector<lt::open_file_state> get_status(lt::storage_index_t) const override { return {}; }
  void abort(bool) override {}
  void submit_jobs() override {}
  void settings_updated() override {}
};

class Disk : public testing::Test {
 protected:
  explicit Disk(std::size_t memory_bytes = 16 * kPiece) {
    auto inner = std::make_unique<AskedDisk>();
    asked_ = inner.get();
    disk_ = flush_before_hash(std::move(inner), network_, memory_bytes);
    files_.set_piece_length(kPiece);
    files_.add_file("f", 2 * kPiece + kLastPiece);
    files_.set_num_pieces(3);
    torrent_ = add();
  }

  lt::storage_holder add() {
    const std::string path = "/nowhere";
    const lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities;
    return disk_->new_torrent(
        lt::storage_params(files_, nullptr, path, lt::storage_mode_sparse, priorities, lt::sha1_hash()), nullptr);
  }

  static std::string piece_bytes(int piece) {
    return random_piece(piece == 2 ? kLastPiece : kPiece, 7 + static_cast<std::uint64_t>(piece));
  }

  void write(int piece, int block) {
    const std::string bytes = piece_bytes(piece);
    const int start = block * kBlock;
    const int length = std::min(kBlock, static_cast<int>(bytes.size()) - start);
    disk_->async_write(torrent_, {lt::piece_index_t(piece), start, length}, bytes.data() + start, nullptr,
                       [this](const lt::storage_error&) { ++told_written_; }, {});
  }
  void write_all(int piece) {
    for (int block = 0; block * kBlock < static_cast<int>(piece_bytes(piece).size()); ++block) write(piece, block);
  }
  void finish_writes(std::size_t count = SIZE_MAX, const lt::storage_error& error = {}) {
    for (; count > 0 && !asked_->writes.empty(); --count) {
      const auto done = std::move(asked_->writes.front());
      asked_->writes.pop_front();
      done(error);
    }
  }

  struct Answer {
    std::string hash;
    bool failed = false;
  };
  /// The answer comes into the result when it comes.
  std::shared_ptr<std::optional<Answer>> hash(int piece) {
    auto answer = std::make_shared<std::optional<Answer>>();
    disk_->async_hash(
        torrent_, lt::piece_index_t(piece), {}, lt::disk_interface::v1_hash,
        [answer, piece](lt::piece_index_t index, const lt::sha1_hash& hash, const lt::storage_error& error) {
          EXPECT_EQ(static_cast<int>(index), piece);
          EXPECT_FALSE(answer->has_value()) << "answered twice";
          *answer = Answer{hash.to_string(), static_cast<bool>(error)};
        });
    return answer;
  }
  void answer_hash(const lt::storage_error& error = {}) {
    ASSERT_FALSE(asked_->hashes.empty());
    const auto question = std::move(asked_->hashes.front());
    asked_->hashes.pop_front();
    question.done(question.piece, lt::sha1_hash(kDiskHash.data()), error);
  }
  void answer_clear(int piece) {
    ASSERT_FALSE(asked_->clears.empty());
    const auto done = std::move(asked_->clears.front());
    asked_->clears.pop_front();
    done(lt::piece_index_t(piece));
  }
  /// Until everything that was handed to the hashing thread is back.
  void run_network() {
    network_.restart();
    network_.run();
  }

  lt::io_context network_;
  lt::file_storage files_;
  AskedDisk* asked_ = nullptr;
  std::unique_ptr<lt::disk_interface> disk_;
  lt::storage_holder torrent_;
  int told_written_ = 0;
};

class DiskWithoutMemory : public Disk {
 protected:
  DiskWithoutMemory() : Disk(0) {}
};

class DiskWithMemoryForOnePiece : public Disk {
 protected:
  DiskWithMemoryForOnePiece() : Disk(kPiece) {}
};

TEST_F(DiskWithoutMemory, HoldsAHashBackUntilThePieceIsWritten) {
  write_all(0);
  const auto answer = hash(0);
  answer_hash();
  finish_writes(3);
  EXPECT_FALSE(answer->has_value());
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->hash, kDiskHash);
  EXPECT_FALSE((*answer)->failed);
  EXPECT_EQ(told_written_, 4);
}

TEST_F(DiskWithoutMemory, PassesNoPieceOfWhichABlockWasNotWritten) {
  write_all(0);
  const auto answer = hash(0);
  finish_writes(1, no_space());
  finish_writes();
  EXPECT_FALSE(answer->has_value());
  answer_hash();
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->failed);
}

TEST_F(DiskWithoutMemory, TellsThatThePieceCannotBeRead) {
  write_all(0);
  const auto answer = hash(0);
  finish_writes();
  answer_hash(no_space());
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->failed);
}

TEST_F(Disk, HashesAPieceFromTheBytesThatCame) {
  for (const int piece : {0, 2}) {
    write_all(piece);
    finish_writes();
    const auto answer = hash(piece);
    run_network();
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->hash, sha1_of(piece_bytes(piece)));
    EXPECT_FALSE((*answer)->failed);
  }
  EXPECT_TRUE(asked_->hashes.empty());
}

TEST_F(Disk, HoldsItsOwnHashBackUntilThePieceIsWritten) {
  write_all(0);
  const auto answer = hash(0);
  run_network();
  finish_writes(3);
  EXPECT_FALSE(answer->has_value());
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->hash, sha1_of(piece_bytes(0)));
}

TEST_F(Disk, PassesNoPieceOfItsOwnOfWhichABlockWasNotWritten) {
  write_all(0);
  const auto answer = hash(0);
  run_network();
  finish_writes(1, no_space());
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_TRUE((*answer)->failed);
}

TEST_F(Disk, TakesABlockThatCameTwiceOnce) {
  write(0, 0);
  write(0, 0);
  write(0, 1);
  write(0, 2);
  finish_writes();
  const auto answer = hash(0);
  EXPECT_EQ(asked_->hashes.size(), 1U) << "one block never came: only the disk can know it";
  answer_hash();
  EXPECT_TRUE(answer->has_value());
}

TEST_F(Disk, ReadsBackWhatItSawInPart) {
  write(0, 0);
  finish_writes();
  disk_->async_stop_torrent(torrent_, {});
  for (const int block : {1, 2, 3}) write(0, block);
  finish_writes();
  const auto answer = hash(0);
  answer_hash();
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->hash, kDiskHash);
}

TEST_F(Disk, ReadsBackWhatItNeverSaw) {
  const auto answer = hash(1);
  answer_hash();
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->hash, kDiskHash);
}

TEST_F(DiskWithMemoryForOnePiece, ReadsBackWhatMemoryDoesNotHold) {
  write_all(0);
  write_all(1);
  const auto second = hash(1);
  ASSERT_EQ(asked_->hashes.size(), 1U);
  answer_hash();
  const auto first = hash(0);
  finish_writes();
  run_network();
  EXPECT_EQ((*first)->hash, sha1_of(piece_bytes(0)));
  EXPECT_EQ((*second)->hash, kDiskHash);

  write_all(1);
  finish_writes();
  const auto third = hash(1);
  run_network();
  ASSERT_TRUE(third->has_value()) << "the memory is free again";
  EXPECT_EQ((*third)->hash, sha1_of(piece_bytes(1)));
}

TEST_F(DiskWithMemoryForOnePiece, FreesTheMemoryOfAStoppedTorrent) {
  write(0, 0);
  disk_->async_stop_torrent(torrent_, {});
  finish_writes();
  write_all(1);
  finish_writes();
  const auto answer = hash(1);
  run_network();
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->hash, sha1_of(piece_bytes(1)));
}

TEST_F(Disk, StartsAFailedPieceAnewOnlyAfterItsHash) {
  write_all(0);
  const auto old = hash(0);
  finish_writes(1, no_space());
  finish_writes();
  bool anew = false;
  disk_->async_clear_piece(torrent_, lt::piece_index_t(0), [&](lt::piece_index_t) {
    EXPECT_TRUE(old->has_value());
    anew = true;
  });
  answer_clear(0);
  EXPECT_FALSE(anew) << "its hash is still being computed";
  run_network();
  EXPECT_TRUE(anew);
  EXPECT_TRUE((*old)->failed);

  write_all(0);
  const auto answer = hash(0);
  run_network();
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_FALSE((*answer)->failed) << "the failure was the first attempt's";
}

TEST_F(Disk, DoesNotTakeAnOldFailureForThatOfBlocksThatCameMeanwhile) {
  write(0, 0);
  finish_writes(1, no_space());
  disk_->async_clear_piece(torrent_, lt::piece_index_t(0), [](lt::piece_index_t) {});
  write(0, 1);  // asked for before, and on its way to the disk when the piece is started anew
  answer_clear(0);
  for (const int block : {0, 2, 3}) write(0, block);
  const auto answer = hash(0);
  answer_hash();
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_FALSE((*answer)->failed);
}

TEST_F(Disk, KeepsTorrentsApartThatHadTheSameIndex) {
  write(0, 0);
  write(0, 1);
  torrent_.reset();
  EXPECT_EQ(asked_->removed.size(), 1U);
  torrent_ = add();
  write_all(0);
  const auto answer = hash(0);
  run_network();
  finish_writes(2, no_space());  // the first torrent's
  EXPECT_FALSE(answer->has_value());
  finish_writes();
  ASSERT_TRUE(answer->has_value());
  EXPECT_FALSE((*answer)->failed);
  EXPECT_EQ((*answer)->hash, sha1_of(piece_bytes(0)));
}

TEST_F(Disk, MayGoWhileAPieceIsBeingHashed) {
  write_all(0);
  const auto answer = hash(0);
  finish_writes();
  torrent_.reset();
  disk_.reset();
  EXPECT_FALSE(answer->has_value()) << "answers come in the network thread's loop, which has ended";
}

TEST(PieceHasher, GivesEveryPieceItsOwnHash) {
  lt::io_context network;
  PieceHasher hasher(network);
  PieceMemory memory(std::size_t{64} << 20);
  std::size_t answers = 0;
  // More than a batch, of sizes that end in the middle of a block.
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string bytes = random_piece(kPiece - i * 11, i);
    PieceBuffer piece = memory.take(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
      piece.put(at, {reinterpret_cast<const std::uint8_t*>(bytes.data()) + at,
                     std::min<std::size_t>(kBlock, bytes.size() - at)});
    }
    ASSERT_TRUE(piece.whole());
    hasher.hash(std::move(piece), [&, wanted = sha1_of(bytes)](PieceBuffer back, const lt::sha1_hash& hash) {
      EXPECT_EQ(hash.to_string(), wanted);
      memory.give_back(std::move(back));
      ++answers;
    });
  }
  network.run();
  EXPECT_EQ(answers, 40U);
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

TEST(PieceMemory, KeepsToItsBudget) {
  PieceMemory memory(100'000);
  PieceBuffer first = memory.take(60'000);
  EXPECT_TRUE(first);
  EXPECT_FALSE(memory.take(60'000));
  PieceBuffer second = memory.take(40'000);
  EXPECT_TRUE(second);
  memory.give_back(std::move(first));
  EXPECT_EQ(memory.bytes_in_use(), 40'000U);
  EXPECT_TRUE(memory.take(60'000));
}

}  // namespace
}  // namespace gridtorrent::client::engine
